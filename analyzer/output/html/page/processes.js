/**
 * A table that is sorted by the column whose heading is chosen: {title, n, value(row), cell(row)}; without `value` it is no order. Rows as they
 * come may have parts, each with a line of text before it (`partOf`; empty: none).
 */
function sortedTable(columns, rows, label, partOf = () => '') {
  const state = {column: null, down: false};
  const body = h('tbody');
  const heads = columns.map((column) => h('th', {class: column.n ? 'n' : null, scope: 'col'}, column.value ? h('button', {type: 'button', text: column.title, onclick: () => {
    state.down = state.column === column ? !state.down : column.n === true;
    state.column = column;
    fill();
  }}) : column.title));
  function fill() {
    const order = [...rows];
    if (state.column) {
      const {value} = state.column;
      order.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
        const by = typeof x === 'string' ? x.localeCompare(y) : x - y;
        return state.down ? -by : by;
      });
    }
    const shown = [];
    let part = '';
    for (const row of order) {
      if (!state.column && partOf(row) !== part) {
        part = partOf(row);
        shown.push(h('tr', {class: 'apart'}, h('td', {colspan: columns.length, text: part})));
      }
      shown.push(h('tr', {}, ...columns.map((column) => {
        const cell = column.cell(row);
        return cell instanceof Node ? h('td', {class: column.n ? 'n' : null}, cell) : h('td', {class: column.n ? 'n' : null, text: cell});
      })));
    }
    body.replaceChildren(...shown);
    heads.forEach((head, i) => {
      if (columns[i] === state.column) head.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
  }
  fill();
  return scrollBox(label, h('table', {}, h('thead', {}, h('tr', {}, ...heads)), body));
}

/** The name of a process, which leads to its page if it has one. */
function processLink(row, name = row.name) {
  return row.run === undefined ? h('span', {text: name}) : h('a', {href: `#run-${row.run}`, text: name});
}

function overallSection(all) {
  const known = new Map(all.processes.map((row) => [row.process, row]));
  const worst = (row) => (known.has(row.worst) ? processLink(known.get(row.worst), known.get(row.worst).short_name) : '-');
  const shown = rankingColumns(page.data.columns.overall).map((column) => {
    if (column.key === null) return {...column, cell: scoreBar};
    if (column.unit === 'name') return {...column, value: (row) => row.name, cell: (row) => nameCell(row)};
    return {...column, value: (row) => (row.unknown && column.key !== 'rank' ? undefined : row[column.key]), cell: (row) => cellText(row, column)};
  });
  const columns = [...shown, {title: 'highest in', n: true, cell: worst}];
  const marked = marksText(all.functions);
  return h('section', {id: 'functions'}, h('h2', {text: 'Functions over all processes'}),
    h('p', {text: `score: ${all.score}; the line on the bar is its 95 % interval. Of all time: lost time by the lives of all threads. Processes: how many lost time, and how many called it.`}),
    sortedTable(columns, all.functions, 'Functions over all processes', (row) => all.standings[row.standing] || ''),
    marked ? h('p', {class: 'faint', text: marked}) : null,
    leftOutText(all.left_out, 'functions'));
}

function processesSection(all) {
  const columns = [
    {title: 'process', value: (row) => row.name, cell: (row) => processLink(row)},
    {title: 'life', n: true, value: (row) => row.life, cell: (row) => timeText(row.life) + (row.short ? ' (short)' : '')},
    {title: 'threads', n: true, value: (row) => row.threads, cell: (row) => countText(row.threads)},
    {title: 'calls', n: true, value: (row) => row.calls, cell: (row) => countText(row.calls)},
    {title: 'lost', n: true, value: (row) => row.lost, cell: (row) => timeText(row.lost)},
    {title: 'highest score', n: true, value: (row) => row.rdam, cell: (row) => (row.rdam === undefined ? '-' : fixed(row.rdam, 3))},
    {title: 'of', value: (row) => row.highest || '', cell: (row) => row.highest || '-'},
    ...['running', 'waiting', 'preempted'].filter((state) => all.processes.some((row) => row[state] !== undefined)).map((state) => (
      {title: state, n: true, value: (row) => row[state], cell: (row) => (row[state] === undefined ? '-' : percentText(row[state]))}
    )),
    {title: 'trace', value: (row) => row.trace, cell: (row) => row.trace},
  ];
  const pages = all.processes.filter((row) => row.run !== undefined).length;
  return h('section', {id: 'processes'}, h('h2', {text: 'Processes'}),
    h('p', {text: `The processes that lost most come first; ${pages === 1 ? 'the first has a page of its own' : `${pages} have pages of their own`}. rdam report of a single trace makes the page of any other. Lost: lost time without functions that wait by design. Running, waiting, preempted: what the threads of a process together did with their lives. A short-lived process does not set the score.`}),
    sortedTable(columns, all.processes, 'Processes'),
    leftOutText(all.processes_left_out, 'processes'));
}

function processesPage(data) {
  const all = data.processes;
  return h('div', {}, header(all), overallSection(all),
    all.heat.cells.length > 0 ? heatSection({heat: all.heat, functions: all.functions, timelines: [], rowsAre: 'process'}) : null,
    processesSection(all));
}
