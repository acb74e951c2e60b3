/** Charts of the library that are on the page: destroyed when their function is closed, and drawn anew with the theme. */
let charts = [];
function dropCharts() {
  charts.forEach((each) => each.destroy());
  charts = [];
}

function axis(title, kind, text) {
  const ticks = {color: styleOf('--faint'), maxTicksLimit: 8};
  if (text) ticks.callback = text;
  return {type: kind, title: {display: title !== '', text: title, color: styleOf('--faint')}, grid: {color: styleOf('--line')}, ticks};
}
const logTime = (title) => axis(title, 'logarithmic', (value) => (Number.isInteger(Math.log10(value)) || value < 1 ? timeText(value) : ''));

function chart(label, make) {
  const canvas = h('canvas', {role: 'img', 'aria-label': label});
  // A canvas has a size only when it is on the page.
  requestAnimationFrame(() => {
    if (!canvas.isConnected) return;
    const given = make();
    given.options = {animation: false, responsive: true, maintainAspectRatio: false, ...given.options};
    charts.push(new Chart(canvas, given));
  });
  return h('div', {class: 'chart'}, canvas);
}

const noLegend = {legend: {display: false}};
const legend = () => ({legend: {labels: {color: styleOf('--ink'), boxWidth: 12}}});

/** Calls by duration: one bar for each range; both axes logarithmic. */
function durationsChart(row, bars) {
  const text = `Calls by duration, from ${timeText(row.min)} to ${timeText(row.max)}; median ${timeText(row.median)}, p99 ${timeText(row.p99)}`;
  return figure('Durations', text, chart(text, () => ({type: 'bar',
    data: {labels: bars.map(([from]) => timeText(from)),
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
      scales: {x: {...axis('time in the run', 'linear', (value) => timeText(value)), min: 0, max: duration || undefined}, y: logTime('duration')}}})));
}

/** Duration against the value of a parameter. */
function parameterChart(parameter) {
  const text = `${parameter.name} explains ${percentText(parameter.explains)} of the lost time`;
  return figure(parameter.name, text, chart(`Duration against ${parameter.name}: ${text}`, () => ({type: 'scatter',
    data: {datasets: [{data: parameter.points.map(([x, y]) => ({x, y: y || null})), backgroundColor: `${styleOf('--bar')}99`, pointRadius: 2.5}]},
    options: {plugins: {...noLegend, tooltip: {callbacks: {label: (item) => `${item.raw.x}: ${timeText(item.raw.y)}`}}},
      scales: {x: axis(parameter.name, 'linear'), y: logTime('duration')}}})));
}

/** Lost time of each of the named. */
function lossChart(title, help, rows) {
  const shown = rows.slice(0, 24);
  const text = `${title}: ${shown.slice(0, 5).map(([name, lost]) => `${name} ${timeText(lost)}`).join(', ')}`;
  const box = chart(text, () => ({type: 'bar',
    data: {labels: shown.map(([name]) => (name.length > 24 ? `${name.slice(0, 23)}…` : name)), datasets: [{data: shown.map(([, lost]) => lost), backgroundColor: styleOf('--bar')}]},
    options: {indexAxis: 'y', plugins: {...noLegend, tooltip: {callbacks: {label: (item) => timeText(item.raw)}}},
      scales: {x: axis('lost', 'linear', (value) => timeText(value)), y: {...axis('', 'category'), ticks: {color: styleOf('--ink'), autoSkip: false}}}}}));
  box.style.height = `${Math.max(6, 2.5 + 1.5 * shown.length)}rem`;
  return figure(title, help, box);
}
