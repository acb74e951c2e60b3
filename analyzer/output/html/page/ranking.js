/** Those of a table of functions: with the rank, and a bar beside the score. */
function rankingColumns(fields) {
  const [score, ...others] = fields.map((field) => ({...field, n: !isText(field)}));
  return [{title: 'rank', key: 'rank', unit: 'count', n: true}, score, {title: '', key: null}, ...others];
}
/** Null: there are none. */
function marksText(rows) {
  const said = page.data.marks.filter(([mark]) => rows.some((row) => row.mark === mark)).map(([mark, text]) => `${mark}: ${text}`);
  if (rows.some((row) => row.estimated)) said.push('~: an estimate');
  if (rows.some((row) => row.unknown)) said.push('-: too little was seen for a score');
  return said.length > 0 ? `${said.join('; ')}.` : null;
}

/** The score as a bar from 0 to 1, with its interval as a line. */
function scoreBar(row) {
  if (row.unknown) return h('span', {text: ''});
  const filled = h('i');
  filled.style.width = `${100 * row.rdam}%`;
  const line = h('b');
  line.style.left = `${100 * row.rdam_low}%`;
  line.style.width = `${Math.max(100 * (row.rdam_high - row.rdam_low), 0.5)}%`;
  return h('span', {class: 'score', role: 'img', 'aria-label': `score ${scoreText(row)}, 95 % interval ${intervalText(row)}`}, filled, line);
}

function nameCell(row, open) {
  return h('span', {}, row.details ? h('a', {href: open, text: row.name}) : h('span', {text: row.name}),
    row.why ? h('span', {class: 'faint', text: `, ${row.why}`}) : null);
}

function rankingRow(row, columns, open) {
  const cells = columns.map((column) => {
    if (column.key === null) return h('td', {}, scoreBar(row));
    if (column.unit === 'name') return h('td', {class: 'name'}, nameCell(row, open));
    return h('td', {class: 'n', text: cellText(row, column)});
  });
  const given = row.details ? {class: 'link', onclick: () => { window.location.hash = open; }} : {};
  return h('tr', given, ...cells);
}

/** By the column, those without a value last; the ranking itself keeps its three parts. */
function sortedRows(rows, key, down) {
  const value = (row) => (row.unknown && key !== 'name' && key !== 'rank' ? undefined : row[key]);
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    const order = typeof x === 'string' ? x.localeCompare(y) : x - y;
    return (down ? -order : order) || a.rank - b.rank;
  });
}

/** How rows are sorted and what is searched for, by run: as it was when the reader comes back from a function. */
const rankingStates = new Map();

/** Which functions have a page of their own, if not all have. Null: all. */
function withoutPage(run) {
  if (run.functions.every((row) => row.details)) return null;
  const detailed = run.functions.filter((row) => row.details).length;
  return `Only ${countText(detailed)} of these functions have a page of their own (a link): the first of the ranking, those that score at least ${run.threshold.toFixed(2)} (--threshold), and those that lost most, as far as there is room.`;
}

/** So many functions that lost next to nothing are not folded. */
const FEW_ROWS = 3;

function ranking(run, number) {
  if (run.functions.length === 0) return h('section', {}, h('h2', {text: 'Functions'}), h('p', {text: 'No calls to wrapped functions were recorded.'}));
  if (!rankingStates.has(number)) rankingStates.set(number, {key: 'rank', down: false, find: '', unfolded: false});
  const state = rankingStates.get(number);
  const body = h('tbody');
  const said = h('p', {class: 'faint', 'aria-live': 'polite'});
  const columns = rankingColumns(page.data.columns.functions);
  const heads = columns.map((column) => h('th', {class: column.n ? 'n' : null, scope: 'col'},
    column.key ? h('button', {text: column.title, type: 'button', onclick: () => {
      state.down = state.key === column.key ? !state.down : column.n === true && column.key !== 'rank';
      state.key = column.key;
      fill();
    }}) : null));
  function fill() {
    const wanted = state.find.toLowerCase();
    const rows = sortedRows(run.functions.filter((row) => row.name.toLowerCase().includes(wanted)), state.key, state.down);
    const shown = [];
    let part = 'ranked';
    const ranked = state.key === 'rank' && !state.down;
    const little = rows.filter((row) => row.standing === 'little').length;
    const folded = ranked && wanted === '' && !state.unfolded && little > FEW_ROWS && little < rows.length;
    rows.forEach((row) => {
      if (ranked && row.standing !== part) {
        part = row.standing;
        const more = folded && part === 'little' ? h('button', {type: 'button', text: `show ${countText(little)} functions`, onclick: () => { state.unfolded = true; fill(); }}) : null;
        shown.push(h('tr', {class: 'apart'}, h('td', {colspan: columns.length}, run.standings[part] || '', more ? ' ' : null, more)));
      }
      if (folded && row.standing === 'little') return;
      shown.push(rankingRow(row, columns, `#run-${number}-function-${row.rank}`));
    });
    body.replaceChildren(...shown);
    heads.forEach((head, i) => {
      const column = columns[i];
      if (column.key === state.key) head.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    said.textContent = rows.length === run.functions.length ? '' : `${rows.length} of ${run.functions.length} functions`;
  }
  fill();
  const search = h('input', {type: 'search', value: state.find || null, placeholder: 'Search functions', 'aria-label': 'Search functions', oninput: () => {
    state.find = search.value;
    fill();
  }});
  return h('section', {}, h('h2', {text: 'Functions'}),
    h('p', {text: `score: ${run.score}; the line on the bar is its 95 % interval, by whose lower end functions are ranked, or by a tenth of the score if that is more.`}),
    h('div', {class: 'tools'}, search, said),
    scrollBox('Functions', h('table', {class: 'ranking'}, h('thead', {}, h('tr', {}, ...heads)), body)),
    marksText(run.functions) ? h('p', {class: 'faint marks', text: marksText(run.functions)}) : null,
    withoutPage(run) ? h('p', {class: 'faint', text: withoutPage(run)}) : null,
    leftOutText(run.left_out, 'functions'));
}
