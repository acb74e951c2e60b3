const VERDICTS = {better: 'better', worse: 'worse', same: 'no clear difference', only_a: 'only in the first', only_b: 'only in the second'};

/** As in rdam analyze --diff: also what was not recorded, or only in part of the time. */
function verdictText(row) {
  if (!row.scored) return 'too few calls were seen for a score';
  const lacks = !row.recorded_in_both && {only_a: 'not recorded in the second', only_b: 'not recorded in the first'}[row.verdict];
  const sampled = ['a', 'b'].map((side) => row[side] && row[side].windowed);
  const note = sampled[0] && sampled[1] ? ', both sampled' : sampled[0] ? ', the first is sampled' : sampled[1] ? ', the second is sampled' : '';
  return (lacks || VERDICTS[row.verdict] || row.verdict) + note;
}

/** Without a sign if it rounds to nothing. */
const changeText = (change) => (Math.abs(change) < 0.0005 ? '0.000' : (change > 0 ? '+' : '') + fixed(change, 3));

/** Two bars from 0 to 1, one above the other. */
function sideBars(row) {
  return h('span', {}, row.a ? scoreBar(row.a) : null, row.b ? scoreBar(row.b) : null);
}

function diffSection(data) {
  const [a, b] = data.runs.map((run, i) => nameOfRun(data, i));
  /** The page of a function in one of the runs, the second one's first. */
  const linked = (row) => {
    const place = [[row.b, 1], [row.a, 0]].find(([side, number]) => side && data.runs[number].functions.some((each) => each.rank === side.rank && each.details));
    return place ? h('a', {href: `#run-${place[1]}-function-${place[0].rank}`, text: row.name}) : row.name;
  };
  /** The first one's above the second one's, as the bars. */
  const pair = (row, text) => h('span', {class: 'pair'}, ...[row.a, row.b].map((side) => h('span', {text: side ? text(side) : '-'})));
  const [, ...compared] = data.columns.compared;
  const rows = data.diff.map((row) => [linked(row), pair(row, scoreText), sideBars(row), pair(row, intervalText),
    row.recorded_in_both && row.scored ? changeText(row.change) : '-', verdictText(row), ...compared.map((field) => pair(row, (side) => cellText(side, field)))]);
  const marked = marksText(data.diff.flatMap((row) => [row.a, row.b]).filter((side) => side));
  return h('section', {id: 'diff'}, h('h1', {text: data.runs[0].title === data.runs[1].title ? `Two recordings of ${data.runs[0].title}` : 'Two recordings'}),
    h('p', {text: `First: ${a}. Second: ${b}. Of two bars or figures, the upper one is the first recording’s, the lower one the second’s.`}),
    h('p', {text: 'better, worse: the 95 % intervals of the scores do not overlap; no clear difference: they do. lost: the share of all threads’ lives that was lost in the function.'}),
    tableOf('Difference', [{title: 'function'}, {title: 'score', n: true}, {title: ''}, {title: '95 %', n: true}, {title: 'change', n: true}, {title: 'verdict'},
      ...compared.map(({title}) => ({title, n: true}))], rows),
    data.diff_left_out > 0 ? h('p', {class: 'faint', text: `${countText(data.diff_left_out)} more functions are not on this page.`}) : null,
    marked ? h('p', {class: 'faint', text: marked}) : null, ...besideEachOther(data));
}

/** The heat maps and icicles of both, as far as they are known; in the heat maps the same colour means the same. */
function besideEachOther(data) {
  const titled = (section, i) => {
    section.querySelector('h2').textContent += i === 0 ? ': first' : ': second';
    section.querySelector('p').remove();
    return section;
  };
  const most = Math.max(...data.runs.map((run) => (run.heat ? largestShare(run) : 0)));
  const heats = data.runs.map((run, i) => (run.heat && run.heat.cells.length > 0 ? titled(heatSection(run, null, {id: `heat-${i}`, most}), i) : null));
  const icicles = data.runs.map((run, i) => (run.icicle ? titled(icicleSection(run.icicle, `icicle-${i}`), i) : null));
  const told = ['Lost time by thread (rows) and time in the run. The strongest colour is the same part of a time in both.',
    'Each box is a call path; its width is its part of its own recording. Click a box to zoom in.'];
  return [heats, icicles].flatMap((sections, i) => {
    const shown = sections.filter((each) => each !== null);
    return shown.length > 0 ? [h('p', {class: 'apart', text: told[i]}), h('div', {class: 'beside'}, ...shown)] : [];
  });
}
