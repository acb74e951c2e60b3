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
const logTime = (title) => axis(title, 'logarithmic', (value) => (Number.isInteger(Math.log10(value)) || value < 1 ? tickText(value) : ''));

function chart(label, make) {
  const canvas = h('canvas', {role: 'img', 'aria-label': label});
  // A canvas has a size only when it is on the page.
  requestAnimationFrame(() => {
    if (canvas.isConnected) charts.push({canvas, make, drawn: drawChart(canvas, make)});
  });
  return h('div', {class: 'chart'}, canvas);
}

const noLegend = {legend: {display: false}};
const legend = () => ({legend: {labels: {color: styleOf('--ink'), boxWidth: 12}}});

/** Calls by duration: one bar for each range; both axes logarithmic. */
function durationsChart(row, bars) {
  const text = `Calls by duration, from ${timeText(row.min)} to ${timeText(row.max)}; median ${timeText(row.median)}, p99 ${timeText(row.p99)}`;
  return figure('Durations', text, chart(text, () => ({type: 'bar',
    data: {labels: bars.map(([from]) => tickText(from)),
      datasets: [{data: bars.map(([, , calls]) => calls), backgroundColor: styleOf('--bar'), barPercentage: 1, categoryPercentage: 0.96}]},
    options: {plugins: {...noLegend, tooltip: {callbacks: {title: ([item]) => `${timeText(bars[item.dataIndex][0])} to ${timeText(bars[item.dataIndex][1])}`,
      label: (item) => `${countText(item.raw)} calls`}}},
      scales: {x: axis('duration', 'category'), y: axis('calls', 'logarithmic', (value) => (Number.isInteger(Math.log10(value)) ? countText(value) : ''))}}})));
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
      scales: {x: {...axis('time in the run', 'linear', (value) => tickText(value)), min: 0, max: duration || undefined}, y: logTime('duration')}}})));
}

/** What a parameter explains, or that it is a key. */
function parameterText(parameter) {
  return parameter.key ? `${parameter.name} is a key by default: calls are compared with those of the same value`
    : `${parameter.name} explains ${percentText(parameter.explains)} of the lost time`;
}

/** Duration against the value of a parameter. */
function pointsChart(parameter) {
  const text = parameterText(parameter);
  return figure(parameter.name, text, chart(`Duration against ${parameter.name}: ${text}`, () => ({type: 'scatter',
    data: {datasets: [{data: parameter.points.map(([x, y]) => ({x, y: y || null})), backgroundColor: `${styleOf('--bar')}99`, pointRadius: 2.5}]},
    options: {plugins: {...noLegend, tooltip: {callbacks: {label: (item) => `${item.raw.x}: ${timeText(item.raw.y)}`}}},
      scales: {x: axis(parameter.name, 'linear'), y: logTime('duration')}}})));
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
      scales: {x: logTime('duration'), y: {...axis('', 'category'), ticks: {color: styleOf('--ink'), autoSkip: false}}}}}));
  box.style.height = heightFor(rows.length + 2);
  return figure(parameter.name, `${text}. Its commonest values, from a sample of the calls.`, box);
}

/** Null: there is nothing to compare. */
function parameterChart(parameter) {
  if (parameter.values && parameter.values.length > 0) return valuesChart(parameter);
  const points = parameter.points || [];
  return points.some(([value]) => value !== points[0][0]) ? pointsChart(parameter) : null;
}

/** Lost time of each of the named. */
function lossChart(title, help, rows) {
  const shown = rows.slice(0, 24);
  const text = `${title}: ${shown.slice(0, 5).map(([name, lost]) => `${name} ${timeText(lost)}`).join(', ')}`;
  const box = chart(text, () => ({type: 'bar',
    data: {labels: shown.map(([name]) => shortened(name)), datasets: [{data: shown.map(([, lost]) => lost), backgroundColor: styleOf('--bar')}]},
    options: {indexAxis: 'y', plugins: {...noLegend, tooltip: {callbacks: {label: (item) => timeText(item.raw)}}},
      scales: {x: axis('lost', 'linear', (value) => tickText(value)), y: {...axis('', 'category'), ticks: {color: styleOf('--ink'), autoSkip: false}}}}}));
  box.style.height = heightFor(shown.length);
  return figure(title, help, box);
}
