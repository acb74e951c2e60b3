/** Charts of the library that are on the page: destroyed when their function is closed, and drawn anew with the theme. */
let charts = [];
function dropCharts() {
  charts.forEach((each) => each.drawn.destroy());
  charts = [];
}
function drawChart(canvas, make) {
  const given = make();
  given.options = {animation: false, responsive: true, maintainAspectRatio: false, ...given.options};
  return new Chart(canvas, given);
}
function redrawCharts() {
  for (const each of charts) {
    each.drawn.destroy();
    each.drawn = drawChart(each.canvas, each.make);
  }
}

function axis(title, kind, text) {
  const ticks = {color: styleOf('--faint'), maxTicksLimit: 8};
  if (text) ticks.callback = text;
  return {type: kind, title: {display: title !== '', text: title, color: styleOf('--faint')}, grid: {color: styleOf('--line')}, ticks};
}
/** Round values from `low` to `high` for a logarithmic axis: 1, 2 and 5 of each decade, or powers of ten where these are too many. */
function roundValues(low, high, most = 7) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const inside = (value) => value >= low * 0.999 && value <= high * 1.001;
  const decades = Array.from({length: last - first + 1}, (_, i) => 10 ** (first + i));
  const all = [[1, 2, 5], [1]].map((steps) => decades.flatMap((each) => steps.map((step) => step * each)).filter(inside));
  const fit = all.find((values) => values.length <= most);
  return fit || all[1].filter((_, i) => i % Math.ceil(all[1].length / most) === 0);
}
/** A logarithmic axis of times, around `values`. */
function logTime(title, values) {
  const known = values.filter((ns) => ns > 0);
  const low = known.reduce((a, b) => Math.min(a, b), known.length > 0 ? known[0] : 1);
  const high = known.reduce((a, b) => Math.max(a, b), low);
  return {...axis(title, 'logarithmic', tickText), min: low / 1.2, max: high * 1.2,
    afterBuildTicks: (scale) => { scale.ticks = roundValues(scale.min, scale.max).map((value) => ({value})); }};
}

function chart(label, make) {
  const canvas = h('canvas', {role: 'img', 'aria-label': label});
  // A canvas has a size only when it is on the page.
  requestAnimationFrame(() => {
    if (canvas.isConnected) charts.push({canvas, make, drawn: drawChart(canvas, make)});
  });
  return h('div', {class: 'chart'}, canvas);
}

const noLegend = {legend: {display: false}};
const legend = (points = false) => ({legend: {labels: {color: styleOf('--ink'), boxWidth: 12, usePointStyle: points}}});

/** What the chart of durations marks, with a dash pattern each. */
const DURATION_MARKS = [['min_ns', 'fastest', [1, 3]], ['baseline_ns', 'baseline', [7, 3]], ['median_ns', 'median', []], ['p99_ns', 'p99', [3, 2]]];

/** Lines with names at the marked durations, and ticks at round ones: `place(ns)` is a position from 0 to 1. */
function durationLines(row, place, [low, high]) {
  return {id: 'durationLines', afterDatasetsDraw: (drawn) => {
    const {ctx: context, chartArea: area} = drawn;
    const x = (ns) => area.left + (area.right - area.left) * place(ns);
    context.save();
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.strokeStyle = context.fillStyle = styleOf('--ink');
    const marks = DURATION_MARKS.filter(([key]) => row[key] !== undefined).map(([key, name, dashes], i) => ({at: x(row[key]), text: `${name} ${timeText(row[key])}`, dashes,
      y: area.top - 6 - 13 * (DURATION_MARKS.length - 1 - i)}));
    context.lineWidth = 1.5;
    for (const {at, y, dashes} of marks) {
      context.setLineDash(dashes);
      context.beginPath();
      context.moveTo(at, y);
      context.lineTo(at, area.bottom);
      context.stroke();
    }
    for (const {at, text, y} of marks) {
      const wide = context.measureText(text).width;
      const left = at + 4 + wide < area.right ? at + 4 : at - 4 - wide;
      context.fillStyle = styleOf('--panel');
      context.fillRect(left - 1, y - 6, wide + 2, 12);
      context.fillStyle = styleOf('--ink');
      context.textAlign = 'left';
      context.fillText(text, left, y);
    }
    context.setLineDash([]);
    context.lineWidth = 1;
    context.strokeStyle = context.fillStyle = styleOf('--faint');
    context.textAlign = 'center';
    for (const value of roundValues(low, high, Math.max(2, Math.floor((area.right - area.left) / 60)))) {
      context.beginPath();
      context.moveTo(x(value), area.bottom);
      context.lineTo(x(value), area.bottom + 5);
      context.stroke();
      const half = context.measureText(tickText(value)).width / 2;
      context.fillText(tickText(value), Math.min(x(value), drawn.width - half - 1), area.bottom + 13);
    }
    context.fillText('duration', (area.left + area.right) / 2, area.bottom + 28);
    context.restore();
  }};
}

/** Calls by duration: one bar for each range; both axes logarithmic. */
function durationsChart(row, bars) {
  const marks = DURATION_MARKS.filter(([key]) => row[key] !== undefined).map(([key, name]) => `${name} ${callText(row, key)}`).join(', ');
  const text = `Calls by duration, from ${callText(row, 'min_ns')} to ${timeText(row.max_ns)}; ${marks}`;
  const help = `${text}. The baseline is what calls are compared with, on average over them: what a call took beyond it counts as lost.`;
  const [low, high] = [bars[0][0], bars[bars.length - 1][1]];
  const place = (ns) => Math.max(0, Math.min(1, Math.log(Math.max(ns, low) / low) / Math.log(high / low)));
  const counts = {...axis('calls', 'logarithmic', countText), min: 0.5, afterBuildTicks: (scale) => { scale.ticks = roundValues(1, scale.max).filter((value) => Number.isInteger(value)).map((value) => ({value})); }};
  return figure('Durations', help, chart(text, () => ({type: 'bar', plugins: [durationLines(row, place, [low, high])],
    data: {labels: bars.map(([from]) => tickText(from)),
      datasets: [{data: bars.map(([, , calls]) => calls || null), backgroundColor: styleOf('--bar'), barPercentage: 1, categoryPercentage: 0.96}]},
    options: {layout: {padding: {top: 13 * DURATION_MARKS.length, bottom: 34}},
      plugins: {...noLegend, tooltip: {callbacks: {title: ([item]) => `${timeText(bars[item.dataIndex][0])} to ${timeText(bars[item.dataIndex][1])}`,
        label: (item) => `${countText(item.raw)} calls`}}},
      scales: {x: {...axis('', 'category'), ticks: {display: false}, grid: {display: false}}, y: counts}}})));
}

/** How many bars a chart with one for each thread or processor has. */
const MOST_NAMED = 24;

/** Durations by thread: the range from least to p99, the median, and the longest. Null: nothing to compare. */
function threadDurationsChart(row) {
  const all = row.details.by_thread.filter((each) => each.max_ns !== undefined);
  if (all.length < 2) return null;
  const rows = all.slice(0, MOST_NAMED);
  const values = rows.flatMap((each) => [each.min_ns, each.median_ns, each.p99_ns, each.max_ns]);
  const least = Math.min(...values.filter((ns) => ns > 0));
  const label = `Durations by thread; medians: ${rows.map((each) => `${each.name} ${timeText(each.median_ns)}`).join(', ')}`;
  const points = (name, key, style) => ({type: 'line', label: name, showLine: false, data: rows.map((each) => each[key] || least), pointStyle: style, pointRadius: 5, pointBorderWidth: 2,
    backgroundColor: styleOf('--ink'), borderColor: styleOf('--ink')});
  const box = chart(label, () => ({type: 'bar',
    data: {labels: rows.map(({name}) => shortened(name)),
      datasets: [points('median', 'median_ns', 'rectRot'), points('longest', 'max_ns', 'crossRot'),
        {label: 'least to p99', data: rows.map((each) => [each.min_ns || least, each.p99_ns || least]), backgroundColor: styleOf('--bar'), minBarLength: 2}]},
    options: {indexAxis: 'y', plugins: {...legend(true), tooltip: {callbacks: {title: ([item]) => rows[item.dataIndex].name,
      label: ({dataIndex: i}) => `least ${timeText(rows[i].min_ns)}, median ${timeText(rows[i].median_ns)}, p99 ${timeText(rows[i].p99_ns)}, longest ${timeText(rows[i].max_ns)}`}}},
      scales: {x: logTime('duration', values), y: {...axis('', 'category'), ticks: {color: styleOf('--ink'), autoSkip: false}}}}}));
  box.style.height = heightFor(rows.length + 2);
  const more = row.threads - rows.length;
  return figure('Durations by thread', `Of all calls${more > 0 ? `, in the threads with the highest scores; ${countText(more)} more ${more === 1 ? 'is' : 'are'} not shown` : ''}.`, box);
}

/** A figure of each bin, with a gap where there were no calls. */
function binLine(bins, at) {
  const width = Math.min(...bins.slice(1).map((bin, i) => bin[0] - bins[i][0]));
  return bins.flatMap((bin, i) => {
    const point = {x: bin[0], y: bin[at] || null};
    return i > 0 && bin[0] - bins[i - 1][0] > 1.5 * width ? [{x: bins[i - 1][0] + width, y: null}, point] : [point];
  });
}

/** Durations over the run: sampled calls as points, least, median and 99th percentile as lines. */
function driftChart(drift, duration) {
  const line = (label, at, colour) => ({type: 'line', label, data: binLine(drift.bins, at), borderColor: colour,
    backgroundColor: colour, borderWidth: 2, pointRadius: 0});
  const text = `Durations over the run, from a sample of ${countText(drift.of)} calls`;
  return figure('Over the run', text, chart(text, () => ({type: 'scatter',
    data: {datasets: [line('p99', 3, '#d55e00'), line('median', 2, '#0072b2'), line('least', 1, '#009e73'),
      {label: 'calls', data: drift.calls.map(([x, y]) => ({x, y: y || null})), backgroundColor: `${styleOf('--bar')}99`, pointRadius: 2}]},
    options: {plugins: {...legend(), tooltip: {callbacks: {label: (item) => `${timeText(item.raw.y)} at ${timeText(item.raw.x)}`}}},
      scales: {x: {...axis('time in the run', 'linear', (value) => tickText(value)), min: 0, max: duration || undefined}, y: logTime('duration', [...drift.bins.flatMap((bin) => bin.slice(1)), ...drift.calls.map(([, ns]) => ns)])}}})));
}

/** Of a caller that has nearly all of the loss: to tell calls apart by caller explains none of it, which says nothing of the caller. */
const loneCallerText = (share) => `one has ${percentText(share)} of the lost time, so it explains no difference between calls`;
/** What a parameter explains, or that it is a key. */
function parameterText(parameter) {
  if (parameter.one_has !== undefined) return `${parameter.name}: ${loneCallerText(parameter.one_has)}`;
  return parameter.key ? `${parameter.name} is a key by default: calls are compared with those of the same value`
    : `${parameter.name} as a key would explain ${percentText(parameter.explains)} of the lost time`;
}

/** Duration against the value of a parameter. */
function pointsChart(parameter) {
  const text = parameterText(parameter);
  return figure(parameter.name, text, chart(`Duration against ${parameter.name}: ${text}`, () => ({type: 'scatter',
    data: {datasets: [{data: parameter.points.map(([x, y]) => ({x, y: y || null})), backgroundColor: `${styleOf('--bar')}99`, pointRadius: 2.5}]},
    options: {plugins: {...noLegend, tooltip: {callbacks: {label: (item) => `${item.raw.x}: ${timeText(item.raw.y)}`}}},
      scales: {x: axis(parameter.name, 'linear'), y: logTime('duration', parameter.points.map(([, ns]) => ns))}}})));
}

const shortened = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);
const heightFor = (lines) => `${Math.max(6, 2.5 + 1.5 * lines)}rem`;

/** Durations by the commonest values of a parameter whose values have no order: the range from least to p99, and the median. */
function valuesChart(parameter) {
  const rows = parameter.values.map((each) => ({...each, name: each.value === undefined ? `${countText(each.others)} other${each.others === 1 ? '' : 's'}` : each.value}));
  const text = parameterText(parameter);
  // A logarithmic axis has no 0.
  const least = Math.min(...rows.flatMap(({min, median, p99}) => [min, median, p99]).filter((ns) => ns > 0));
  const label = `Duration by ${parameter.name}: ${text}; medians: ${rows.map(({name, median}) => `${name} ${timeText(median)}`).join(', ')}`;
  const box = chart(label, () => ({type: 'bar',
    data: {labels: rows.map(({name}) => shortened(name)),
      datasets: [{type: 'line', label: 'median', showLine: false, data: rows.map(({median}) => median || least), pointStyle: 'rectRot', pointRadius: 5,
        backgroundColor: styleOf('--ink'), borderColor: styleOf('--ink')},
      {label: 'least to p99', data: rows.map(({min, p99}) => [min || least, p99 || least]), backgroundColor: styleOf('--bar'), minBarLength: 2}]},
    options: {indexAxis: 'y', plugins: {...legend(), tooltip: {callbacks: {title: ([item]) => rows[item.dataIndex].name,
      label: ({dataIndex: i}) => `least ${timeText(rows[i].min)}, median ${timeText(rows[i].median)}, p99 ${timeText(rows[i].p99)}; about ${countText(rows[i].calls)} calls`}}},
      scales: {x: logTime('duration', rows.flatMap(({min, median, p99}) => [min, median, p99])), y: {...axis('', 'category'), ticks: {color: styleOf('--ink'), autoSkip: false}}}}}));
  box.style.height = heightFor(rows.length + 2);
  return figure(parameter.name, `${text}. The plot shows its most frequent values, from a sample of the calls.`, box);
}

/** Null: there is nothing to compare. */
function parameterChart(parameter) {
  if (parameter.values && parameter.values.length > 0) return valuesChart(parameter);
  const points = parameter.points || [];
  return points.some(([value]) => value !== points[0][0]) ? pointsChart(parameter) : null;
}

/** Lost time of each of the named; of too many, those that lost most. */
function lossChart(title, help, rows) {
  const most = new Set([...rows].sort((a, b) => b[1] - a[1]).slice(0, MOST_NAMED));
  const shown = rows.filter((row) => most.has(row));
  const more = rows.length - shown.length;
  const text = `${title}: ${shown.slice(0, 5).map(([name, lost]) => `${name} ${timeText(lost)}`).join(', ')}`;
  const box = chart(text, () => ({type: 'bar',
    data: {labels: shown.map(([name]) => shortened(name)), datasets: [{data: shown.map(([, lost]) => lost), backgroundColor: styleOf('--bar')}]},
    options: {indexAxis: 'y', plugins: {...noLegend, tooltip: {callbacks: {label: (item) => timeText(item.raw)}}},
      scales: {x: axis('lost', 'linear', (value) => tickText(value)), y: {...axis('', 'category'), ticks: {color: styleOf('--ink'), autoSkip: false}}}}}));
  box.style.height = heightFor(shown.length);
  return figure(title, [help, more > 0 ? `${countText(more)} more, which lost less, ${more === 1 ? 'is' : 'are'} not shown.` : ''].filter((text) => text).join(' '), box);
}
