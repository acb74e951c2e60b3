/** Without a sign if it rounds to nothing. */
const changeText = (change) => (Math.abs(change) < 0.0005 ? '0.000' : (change > 0 ? '+' : '') + fixed(change, 3));

/** With its interval below it. */
function changeCell(row) {
  return h('span', {class: 'pair'}, h('span', {text: changeText(row.change)}), h('span', {class: 'faint', text: `${changeText(row.change_low)} to ${changeText(row.change_high)}`}));
}

/** Two bars from 0 to 1, one above the other. */
function sideBars(row) {
  return h('span', {}, row.a ? scoreBar(row.a) : null, row.b ? scoreBar(row.b) : null);
}

function diffSection(data) {
  const [a, b] = data.runs.map((run, i) => nameOfRun(data, i));
  /** The page of a function in one of the runs, that after first. */
  const linked = (row) => {
    const place = [[row.b, 1], [row.a, 0]].find(([side, number]) => side && data.runs[number].functions.some((each) => each.rank === side.rank && each.details));
    return place ? h('a', {href: `#run-${place[1]}-function-${place[0].rank}`, text: row.name}) : row.name;
  };
  /** Before above after, as the bars. */
  const pair = (row, text) => h('span', {class: 'pair'}, ...[row.a, row.b].map((side) => h('span', {text: side ? text(side) : '-'})));
  const [, ...compared] = data.columns.compared;
  const rows = data.diff.map((row) => [linked(row), pair(row, scoreText), sideBars(row), pair(row, intervalText),
    row.recorded_in_both && row.scored ? changeCell(row) : '-', row.words, ...compared.map((field) => pair(row, (side) => cellText(side, field)))]);
  const marked = marksText(data.diff.flatMap((row) => [row.a, row.b]).filter((side) => side));
  return h('section', {id: 'diff'}, h('h1', {text: data.runs[0].title === data.runs[1].title ? `Before and after: ${data.runs[0].title}` : 'Before and after'}),
    data.diff_change ? h('p', {}, h('b', {text: data.diff_change})) : null,
    h('p', {text: `Before: ${a}. After: ${b}. Of two bars or figures, the upper one is before, the lower one after.`}),
    h('p', {text: 'better, worse: the 95 % intervals of the scores do not overlap; ~ same: they do. × the calls: so many times as many as before. lost: the share of all threads’ lives that was lost in the function.'}),
    tableOf('Difference', [{title: 'function'}, {title: 'score', n: true}, {title: ''}, {title: '95 %', n: true}, {title: 'change', n: true}, {title: 'verdict'},
      ...compared.map(({title}) => ({title, n: true}))], rows),
    leftOutText(data.diff_left_out, 'functions'),
    marked ? h('p', {class: 'faint', text: marked}) : null, ...besideEachOther(data));
}

/** The heat maps and icicles of both, as far as they are known; in the heat maps the same colour means the same. */
function besideEachOther(data) {
  const titled = (section, i) => {
    section.querySelector('h2').textContent += i === 0 ? ': before' : ': after';
    section.querySelector('p').remove();
    return section;
  };
  const most = Math.max(...data.runs.map((run) => (run.heat ? largestShare(run) : 0)));
  const heats = data.runs.map((run, i) => (run.heat && run.heat.cells.length > 0 ? titled(heatSection(run, null, {id: `heat-${i}`, most}), i) : null));
  const icicles = data.runs.map((run, i) => (run.icicle ? titled(icicleSection(run, `icicle-${i}`), i) : null));
  const told = ['Lost time by thread (rows) and time in the run. The strongest colour is the same part of a time in both.',
    'Each box is a call path; its width is its part of its own recording. Click a box to zoom in.'];
  return [heats, icicles].flatMap((sections, i) => {
    const shown = sections.filter((each) => each !== null);
    return shown.length > 0 ? [h('p', {class: 'apart', text: told[i]}), h('div', {class: 'beside'}, ...shown)] : [];
  });
}
