const VERDICTS = {better: 'better', worse: 'worse', same: 'no clear difference: the 95 % intervals overlap', only_a: 'only in the first', only_b: 'only in the second'};

/** Without a sign if it rounds to nothing. */
const changeText = (change) => (Math.abs(change) < 0.0005 ? '0.000' : (change > 0 ? '+' : '') + change.toFixed(3));

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
  const rows = data.diff.map((row) => [linked(row), row.a ? scoreText(row.a) : '-', row.b ? scoreText(row.b) : '-', sideBars(row),
    row.recorded_in_both && row.scored ? changeText(row.change) : '-',
    row.scored ? VERDICTS[row.verdict] || row.verdict : 'seen too little for a score', row.a ? timeText(row.a.median) : '-', row.b ? timeText(row.b.median) : '-']);
  const marked = marksText(data.diff.flatMap((row) => [row.a, row.b]).filter((side) => side));
  return h('section', {id: 'diff'}, h('h1', {text: data.runs[0].title === data.runs[1].title ? `Two recordings of ${data.runs[0].title}` : 'Two recordings'}),
    h('p', {text: `First: ${a}. Second: ${b}. The upper bar is the first one’s score, the lower bar the second one’s.`}),
    tableOf([{title: 'function'}, {title: 'score, first', n: true}, {title: 'score, second', n: true}, {title: ''}, {title: 'change', n: true}, {title: 'verdict'},
      {title: 'median, first', n: true}, {title: 'median, second', n: true}], rows),
    marked ? h('p', {class: 'faint', text: marked}) : null);
}
