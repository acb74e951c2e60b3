function stackItem(stack, open) {
  const rest = [];
  if (stack.more > 0) rest.push(`… ${countText(stack.more)} more`);
  if (stack.truncated) rest.push('… the rest of the stack was not copied when it was recorded');
  const lost = stack.share === undefined ? '' : `${percentText(stack.share)} of the lost time, `;
  return h('details', {open}, h('summary', {text: `${lost}${stack.calls === 1 ? '1 call' : `${countText(stack.calls)} calls`}, ${stack.samples === 1 ? '1 sample' : `${countText(stack.samples)} samples`}: ${stack.frames[0] || ''}`}),
    h('ol', {class: 'stack'}, ...stack.frames.map((frame) => h('li', {text: frame}))), ...rest.map((text) => h('p', {class: 'faint', text})));
}
/** What a list has no room for; null: nothing. */
function moreOf(all, shown, one, many) {
  const more = all - shown;
  return more > 0 ? h('p', {class: 'faint', text: `… ${countText(more)} more ${more === 1 ? one : many}.`}) : null;
}
function stackList({stacks, stacks_in_all: all}) {
  return h('div', {}, ...stacks.map((stack) => stackItem(stack, stacks.length === 1)), moreOf(all, stacks.length, 'stack', 'stacks'));
}

/** Rows in the columns of one of page.data.columns, names first. */
function fieldTable(label, fields, rows) {
  return tableOf(label, fields.map((field) => ({title: field.title, n: !isText(field)})),
    rows.map((row) => fields.map((field) => (field.unit === 'name' ? row.name : cellText(row, field)))));
}

/** Null: all threads are shown. */
function moreThreads(row) {
  const more = row.threads - row.details.by_thread.length;
  return more > 0 ? `The threads with the highest scores; ${countText(more)} more ${more === 1 ? 'is' : 'are'} not shown.` : null;
}

/** Processors, and their nodes if there are several. */
function placeCharts(details) {
  const processors = details.processors || [];
  if (processors.length < 2) return [];
  const out = [lossChart('By processor', 'Where the calls began; estimated from the sample.', processors.map((each) => [`processor ${each.processor}`, each.lost_ns]))];
  const nodes = new Map();
  for (const each of processors) if (each.node !== undefined) nodes.set(each.node, (nodes.get(each.node) || 0) + each.lost_ns);
  if (nodes.size > 1) out.push(lossChart('By NUMA node', 'Estimated from the sample.', [...nodes].map(([node, lost]) => [`node ${node}`, lost])));
  return out;
}

function functionCharts(run, row) {
  const {details} = row;
  const charted = [];
  if (details.bars.length > 0) charted.push(durationsChart(row, details.bars));
  if (details.drift) charted.push(driftChart(details.drift, run.duration));
  if (details.by_thread.length > 1) charted.push(lossChart('By thread', moreThreads(row), details.by_thread.map((each) => [each.name, each.lost_ns])), threadDurationsChart(row));
  const plots = details.parameters.map((each) => [each, parameterChart(each)]);
  charted.push(...placeCharts(details), ...plots.map(([, plot]) => plot).filter((plot) => plot !== null));
  const unplotted = plots.filter(([each, plot]) => plot === null && !each.key).map(([each]) => each);
  if (unplotted.length > 0) charted.push(figure('Also examined', `What else may go with the lost time, and how much of it that would explain as a key: ${unplotted.map((each) => `${each.name} ${each.one_has === undefined ? percentText(each.explains) : `(${loneCallerText(each.one_has)})`}`).join(', ')}.`));
  if (details.off) {
    const {blocked, preempted, until} = details.off;
    const when = until === undefined ? '' : ` in the first ${timeText(until)} of the run, as context switches were not recorded later`;
    const running = Math.max(0, 1 - blocked - preempted);
    charted.push(figure('On and off the processor', `Of the time lost${when}, ${percentText(blocked)} passed while the thread waited, ${percentText(preempted)} while other threads had its processor, and ${percentText(running)} on a processor.`));
  }
  return charted.filter((each) => each !== null);
}

/** The page of a function; null: it has none. */
function functionPage(run, number, rank) {
  const row = run.functions.find((each) => each.rank === rank);
  if (!row || !row.details) return null;
  const {details} = row;
  const sections = [h('p', {}, h('a', {href: `#run-${number}`, text: '← all functions'})), h('h2', {text: row.name, tabindex: '-1'})];
  if (details.source) sections.push(h('p', {class: 'faint', text: details.source}));
  sections.push(h('p', {text: `Score ${scoreText(row)} (95 % interval ${intervalText(row)}): ${countText(row.occurrences)} calls lost ${timeText(row.lost_ns)}; fastest ${callText(row, 'min_ns')}${row.baseline_ns === undefined ? '' : `, baseline ${timeText(row.baseline_ns)} on average`}, median ${callText(row, 'median_ns')}, p99 ${callText(row, 'p99_ns')}, longest ${timeText(row.max_ns)}.`}), scoreBar(row));
  if (details.hints.length > 0) sections.push(h('h3', {text: 'What may explain it'}), h('ul', {}, ...details.hints.map((text) => h('li', {text}))));
  sections.push(h('div', {class: 'grid'}, ...functionCharts(run, row)));
  if (!details.drift && row.rdam < run.threshold) sections.push(h('p', {class: 'faint', text: `Durations over the run, by processor and by parameter are shown for functions that score at least ${run.threshold.toFixed(2)} (--threshold), and for the functions that lost most.`}));
  if (details.callers.length > 0) sections.push(h('h3', {text: 'Callers'}), tableOf('Callers', [{title: 'called from'}, {title: 'calls', n: true}, {title: 'lost', n: true}, {title: 'share', n: true}],
    details.callers.map((each) => [each.frames.join(' ← '), countText(each.calls), timeText(each.lost), percentText(each.share)])), moreOf(details.callers_in_all, details.callers.length, 'caller', 'callers'));
  if (details.stacks.length > 0) sections.push(h('h3', {text: 'Call stacks'}), stackList(details));
  if (details.by_thread.length > 0) sections.push(h('h3', {text: 'Threads'}), fieldTable('Threads', page.data.columns.threads.map((field) => (field.unit === 'name' ? {...field, title: 'thread'} : field)), details.by_thread), moreOf(row.threads, details.by_thread.length, 'thread', 'threads'));
  if (details.sequences.length > 0) sections.push(h('h3', {text: `Sequences (${details.sequences.length} of ${countText(details.sequences_in_all)})`}), fieldTable('Sequences', page.data.columns.sequences, details.sequences));
  return h('article', {}, ...sections.filter((each) => each !== null));
}
