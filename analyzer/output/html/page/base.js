/** An element: h('td', {class: 'n', text: '1'}, child, …). Text is text, never markup. */
function h(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'text') node.textContent = value;
    else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const UNITS = ['ns', 'µs', 'ms', 's'];
/** Of a time in nanoseconds: a number of its largest unit, and that. */
function inUnit(ns) {
  let value = ns;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit + 1 < UNITS.length) {
    value /= 1000;
    unit += 1;
  }
  return [value, UNITS[unit]];
}
/** With so many digits behind the point, in the steps of rounded() in units.cpp: both say the same of any figure. */
function fixed(value, digits) {
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Math.abs(value) * scale) / scale).toFixed(digits);
}
/** Three significant digits and a unit, as in rdam analyze. */
function timeText(ns) {
  if (ns === undefined || ns === null || !Number.isFinite(ns)) return '-';
  if (ns === 0) return '0 ns';
  const [value, unit] = inUnit(ns);
  const size = Math.abs(value);
  return `${fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0)} ${unit}`;
}
/** One of a row's durations of calls, as its column says it: the shortest cannot be told from nothing. */
function callText(row, key) {
  return (row.cells && row.cells[key]) || timeText(row[key]);
}
/** The same on an axis, where round numbers are short. */
function tickText(ns) {
  const [value, unit] = inUnit(ns);
  if (value === 0) return '0 ns';
  return `${Math.abs(value) >= 999.5 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
}
/** A moment of the run, with as many digits as tell it from the one `step` nanoseconds later. */
function momentText(ns, step) {
  const [value, unit] = inUnit(ns);
  if (value === 0) return '0 ns';
  const digits = Math.ceil(Math.log10(1000 ** UNITS.indexOf(unit) / Math.max(step, 1)));
  return `${value.toFixed(Math.max(0, Math.min(digits, 9)))} ${unit}`;
}
const countText = (count) => Math.round(count).toLocaleString('en-US');
/** Below a table that lacks so many. Null: it has them all. */
const leftOutText = (count, what) => (count > 0 ? h('p', {class: 'faint', text: `${countText(count)} more ${what} are not on this page.`}) : null);
const percentText = (share) => (share > 0 && share < 1e-4 ? '< 0.01 %' : `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))} %`);
const scoreText = (row) => (row.unknown ? '-' : (row.mark || '') + fixed(row.rdam, 3));
const intervalText = (row) => (row.unknown ? '-' : `${fixed(row.rdam_low, 3)}–${fixed(row.rdam_high, 3)}`);

const FIGURES = {score: (value) => fixed(value, 3), share: percentText, count: countText, time: timeText};
/** Columns of other units are of numbers. */
const isText = ({unit}) => unit === 'name' || unit === 'text';
/** What a row says in one of page.data.columns. */
function cellText(row, {key, unit}) {
  if (row.cells && row.cells[key] !== undefined) return row.cells[key];
  return row[key] === undefined ? '-' : FIGURES[unit](row[key]);
}

/**
 * Okabe and Ito's colours, which colour-blind readers can tell apart; their vermilion and grey mean what the timeline says. The functions that
 * lost most have colours of their own.
 */
const CATEGORIES = ['#56b4e9', '#009e73', '#cc79a7', '#f0e442', '#0072b2', '#e69f00'];
const colours = new Map();
function colourOf(name) {
  if (!colours.has(name)) colours.set(name, CATEGORIES[colours.size % CATEGORIES.length]);
  return colours.get(name);
}
/** Visible on any colour. */
function outline(context, x, y, width, height) {
  for (const [colour, line] of [[styleOf('--paper'), 4], [styleOf('--ink'), 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(x, y, width, height);
  }
}
/** A box with an edge, as some colours are hardly seen on white. */
function edged(context, colour, x, y, width, height) {
  context.fillStyle = styleOf('--edge');
  context.fillRect(x, y, width, height);
  context.fillStyle = colour;
  // Between the edges of a narrow one would be no room.
  const side = width >= 4 ? 1 : 0;
  context.fillRect(x + side, y + 1, width - 2 * side, height - 2);
}
/** Black or white, whichever is legible on `colour` (#rrggbb). */
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#000000' : '#ffffff';
}

/**
 * From the least loss to the largest, in steps that are told apart without hue: pale blue to dark on a light page, the colours of cividis on a dark
 * one. The least loss is pale, and stands out from an empty cell (contrast 1.5; more would leave no colours to tell losses apart).
 */
const HEAT_ON_LIGHT = [[182, 202, 224], [146, 174, 206], [110, 143, 184], [77, 111, 158], [49, 78, 131], [25, 50, 103], [0, 32, 76]];
const HEAT_ON_DARK = [[42, 68, 110], [77, 93, 109], [116, 122, 116], [158, 155, 112], [206, 192, 91], [255, 233, 69]];
function heatColour(share, dark) {
  const steps = dark ? HEAT_ON_DARK : HEAT_ON_LIGHT;
  const at = Math.max(0, Math.min(share, 1)) * (steps.length - 1);
  const low = Math.min(Math.floor(at), steps.length - 2);
  const mix = steps[low].map((from, i) => Math.round(from + (steps[low + 1][i] - from) * (at - low)));
  return `rgb(${mix.join(',')})`;
}

const isDark = () => document.documentElement.dataset.theme === 'dark';
const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** What has to be drawn again when theme or width change; those whose canvas is gone are forgotten. */
const drawings = new Set();
function redrawAll() {
  for (const each of drawings) {
    if (!each.canvas.isConnected) drawings.delete(each);
    else each.draw();
  }
}

/** A canvas of our own: `draw(context, width, height)` in CSS pixels, as sharp as the screen is. */
function ownCanvas(label, height, draw) {
  const canvas = h('canvas', {class: 'own', tabindex: '0', role: 'img', 'aria-label': label});
  canvas.style.height = `${height}px`;
  const paint = () => {
    const width = canvas.clientWidth;
    if (width === 0) return;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(canvas.clientHeight * scale);
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, canvas.clientHeight);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    draw(context, width, canvas.clientHeight);
  };
  drawings.add({canvas, draw: paint});
  requestAnimationFrame(paint);
  return {canvas, paint};
}

const tip = h('div', {class: 'tip', role: 'status', hidden: true});
function showTip(event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const right = event.clientX + tip.offsetWidth + 20 > window.innerWidth;
  tip.style.left = `${Math.max(4, right ? event.clientX - tip.offsetWidth - 10 : event.clientX + 12)}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 4))}px`;
}
/** `say(x, y)` is the text for a place on the canvas; null: none. */
function withTip(canvas, say) {
  canvas.addEventListener('mousemove', (event) => showTip(event, say(event.offsetX, event.offsetY)));
  canvas.addEventListener('mouseleave', (event) => showTip(event, null));
}

/** `text` as it fits into `width` pixels, or nothing. */
function fitted(context, text, width) {
  if (width < 20) return '';
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 2 ? '' : `${text.slice(0, low)}…`;
}

/** A box that scrolls sideways, which the keyboard reaches as well. */
const scrollBox = (name, ...children) => h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name}, ...children);

/** So many characters of a figure stand on one line: more are words beside it. */
const LONGEST_FIGURE = 24;
/** A table with a heading for each column: {title, n: it holds numbers}. Cells are texts or nodes. */
function tableOf(name, columns, rows) {
  const head = h('tr', {}, ...columns.map((each) => h('th', {class: each.n ? 'n' : null, scope: 'col', text: each.title})));
  const body = rows.map((cells) => h('tr', {}, ...cells.map((cell, i) => {
    const figures = cell.length > LONGEST_FIGURE ? 'n long' : 'n';
    const given = {class: columns[i].n ? figures : columns[i].title ? 'text' : null};
    return cell instanceof Node ? h('td', given, cell) : h('td', {...given, text: cell});
  })));
  return scrollBox(name, h('table', {}, h('thead', {}, head), h('tbody', {}, ...body)));
}

function figure(title, help, ...children) {
  return h('figure', {}, h('figcaption', {text: title}), help ? h('p', {class: 'faint', text: help}) : null, ...children);
}
