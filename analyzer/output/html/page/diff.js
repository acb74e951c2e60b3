const VERDICTS = {better: 'better', worse: 'worse', same: 'no difference that chance would not make', only_a: 'only in the first', only_b: 'only in the second'};

/** Two bars from 0 to 1, one above the other. */
function sideBars(row) {
  return h('span', {}, row.a ? scoreBar(row.a) : null, row.b ? scoreBar(row.b) : null);
}

function diffSection(data) {
  const [a, b] = data.runs;
  const rows = data.diff.map((row) => [row.name, row.a ? scoreText(row.a) : '-', row.b ? scoreText(row.b) : '-', sideBars(row),
    row.recorded_in_both && row.scored ? (row.change > 0 ? '+' : '') + row.change.toFixed(3) : '-',
    row.scored ? VERDICTS[row.verdict] || row.verdict : 'seen too little for a score', row.a ? timeText(row.a.median) : '-', row.b ? timeText(row.b.median) : '-']);
  return h('section', {id: 'diff'}, h('h1', {text: 'Two recordings'}),
    h('p', {text: `First: ${a.title}. Second: ${b.title}. The upper bar is the first one’s score, the lower bar the second one’s.`}),
    tableOf([{title: 'function'}, {title: 'first', n: true}, {title: 'second', n: true}, {title: ''}, {title: 'change', n: true}, {title: 'verdict'},
      {title: 'median, first', n: true}, {title: 'second', n: true}], rows));
}
