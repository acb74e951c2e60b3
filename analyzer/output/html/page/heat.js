/** The place of functions that wait by design and have none of their own; -1 is that of others. */
const OTHERS_BY_DESIGN = -2;

/**
 * Lost time by row and bin, of the functions whose places `wants`. Of a function that is sampled in windows, the calls in a window stand for others,
 * too, which were made at other times: what it lost is divided among the bins as a rate by the time that the windows cover.
 */
function heatMatrix(heat, wants) {
  const matrix = new Float64Array(heat.rows.length * heat.bins);
  const covers = heat.covers || {};
  const means = new Map(Object.entries(covers).map(([place, parts]) => [Number(place), parts.reduce((a, b) => a + b, 0) / parts.length]));
  for (const [row, bin, place, lost] of heat.cells) {
    if (!wants(place)) continue;
    const mean = means.has(place) ? means.get(place) : 1;
    const part = means.has(place) ? covers[place][bin] : 1;
    // Outside of windows there are calls that began in one and stand there for no others.
    const rate = lost * (part > 0 ? Math.min(1, mean / part) : mean);
    // A few calls of a window may stand for more than there was time for.
    matrix[row * heat.bins + bin] += means.has(place) ? Math.min(rate, heat.bin * meanOf(heat, row)) : rate;
  }
  return matrix;
}

/** Of each bin, whether a function that is wanted and lost time was not sampled there. */
function notSampled(heat, wants) {
  const lossy = new Set(heat.cells.filter(([, , , lost]) => lost > 0).map(([, , place]) => place));
  const parts = Object.entries(heat.covers || {}).filter(([place]) => wants(Number(place)) && lossy.has(Number(place))).map(([, each]) => each);
  return Array.from({length: heat.bins}, (_, bin) => parts.some((each) => !(each[bin] > 0)));
}

/** Diagonal lines, in which nothing is known. */
function hatch(context, x, y, width, height) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = styleOf('--faint');
  context.globalAlpha = 0.5;
  context.lineWidth = 1;
  context.beginPath();
  // In step with those of the neighbours.
  for (let at = Math.floor((x - height) / 6) * 6; at < x + width; at += 6) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}

/** Of functions that wait by design. */
function placesByDesign(run) {
  return new Set(run.functions.flatMap((row, place) => (row.standing === 'by_design' ? [place] : [])).concat([OTHERS_BY_DESIGN]));
}

/** Of a row of several threads, their mean counts. */
const meanOf = (heat, row) => (heat.others > 0 && row === heat.rows.length - 1 ? heat.others : 1);
function highestOf(heat, matrix) {
  let most = 0;
  matrix.forEach((lost, i) => { most = Math.max(most, lost / meanOf(heat, Math.floor(i / heat.bins))); });
  return most;
}
/** Without the rows in which the functions whose places `wants` lost nothing; their names become `idle`. */
function withoutIdleRows(heat, wants) {
  const lossy = new Set(heat.cells.filter(([, , place, lost]) => lost > 0 && wants(place)).map(([row]) => row));
  const kept = heat.rows.map((_, row) => row).filter((row) => lossy.has(row));
  if (kept.length === 0) return {...heat, idle: []};
  const places = new Map(kept.map((row, i) => [row, i]));
  return {...heat, rows: kept.map((row) => heat.rows[row]), idle: heat.rows.filter((_, row) => !lossy.has(row)),
    cells: heat.cells.filter(([row]) => lossy.has(row)).map(([row, ...rest]) => [places.get(row), ...rest]), others: lossy.has(heat.rows.length - 1) ? heat.others : 0};
}

/** The largest part of a bin's time that was lost in it, without what waits by design. */
function largestShare(run) {
  const byDesign = placesByDesign(run);
  return highestOf(run.heat, heatMatrix(run.heat, (place) => !byDesign.has(place))) / run.heat.bin;
}

/**
 * `goTo(begin, end, thread)` shows single calls near a cell; null: there are none. `most`: the share that has the strongest colour, where it is not this
 * run's largest (for the functions that are shown at first).
 */
function heatSection(run, goTo, {id = 'heat', most: given = null} = {}) {
  const kind = run.rowsAre || 'thread';
  const gutter = 130;
  const axisHeight = 22;
  const byDesign = placesByDesign(run);
  const waits = run.heat.cells.some(([, , place]) => byDesign.has(place));
  const choices = {helped: (place) => !byDesign.has(place), all: () => true};
  /** With the rows that the chosen functions have. */
  let heat = withoutIdleRows(run.heat, choices.helped);
  const heightOfRow = () => Math.max(6, Math.min(22, Math.floor(480 / heat.rows.length)));
  let rowHeight = heightOfRow();
  let matrix = heatMatrix(heat, choices.helped);
  let unknown = notSampled(heat, choices.helped);
  /** What decides the colour: of threads that have a row together, the mean. */
  const shade = (row, bin) => matrix[row * heat.bins + bin] / meanOf(heat, row);
  let most = given === null ? highestOf(heat, matrix) : given * heat.bin;
  const focus = {row: 0, bin: 0, on: false};
  const width = (canvas) => canvas.clientWidth - gutter;
  const {canvas, paint} = ownCanvas(`Heat map of lost time by ${kind} and time`, heat.rows.length * rowHeight + axisHeight, (context, wide) => {
    const cell = (wide - gutter) / heat.bins;
    const dark = isDark();
    heat.rows.forEach((name, row) => {
      if (rowHeight >= 11 || row % Math.ceil(11 / rowHeight) === 0) {
        context.fillStyle = styleOf('--ink');
        context.fillText(fitted(context, name, gutter - 8), 0, Math.max(row * rowHeight + rowHeight / 2, 6));
      }
      context.fillStyle = styleOf('--panel');
      context.fillRect(gutter, row * rowHeight, wide - gutter, rowHeight - 1);
      for (let bin = 0; bin < heat.bins; bin += 1) {
        const lost = shade(row, bin);
        if (!(lost > 0) && unknown[bin]) hatch(context, gutter + bin * cell, row * rowHeight, cell + 0.4, rowHeight - 1);
        if (!(lost > 0)) continue;
        context.fillStyle = heatColour(Math.sqrt(lost / most), dark);
        context.fillRect(gutter + bin * cell, row * rowHeight, cell + 0.4, rowHeight - 1);
      }
    });
    if (focus.on) outline(context, gutter + focus.bin * cell - 1, focus.row * rowHeight - 1, cell + 2, rowHeight + 1);
    context.fillStyle = styleOf('--faint');
    for (let i = 0; i <= 4; i += 1) {
      context.textAlign = ['left', 'center', 'center', 'center', 'right'][i];
      context.fillText(i === 0 || heat.begin === 0 ? tickText(heat.begin + heat.bin * heat.bins * i / 4) : `+${tickText(heat.bin * heat.bins * i / 4)}`, gutter + (wide - gutter) * i / 4, heat.rows.length * rowHeight + axisHeight / 2);
    }
    context.textAlign = 'left';
  });
  const told = h('p', {class: 'faint', 'aria-live': 'polite'});
  const say = (row, bin) => `${heat.rows[row]}${heat.others > 0 && row === heat.rows.length - 1 ? ' on average' : ''}, ${momentText(heat.begin + bin * heat.bin, heat.bin)} to ${momentText(heat.begin + (bin + 1) * heat.bin, heat.bin)}: ` +
    `lost ${timeText(shade(row, bin))}, ${percentText(shade(row, bin) / heat.bin)} of that time${unknown[bin] ? '; not all that is shown was sampled then' : ''}`;
  const cellAt = (x, y) => {
    const row = Math.floor(y / rowHeight);
    const bin = Math.floor((x - gutter) / width(canvas) * heat.bins);
    return row < heat.rows.length && bin >= 0 && bin < heat.bins ? {row, bin} : null;
  };
  const open = ({row, bin}) => {
    if (goTo) goTo(heat.begin + bin * heat.bin, heat.begin + (bin + 1) * heat.bin, heat.rows[row]);
    else told.textContent = kind === 'process' ? 'Single calls are on the pages of the processes.' : id === 'heat' ? 'No single calls of this run are on the page.' : 'Single calls are on the page of the recording.';
  };
  withTip(canvas, (x, y) => {
    const cell = cellAt(x, y);
    return cell ? say(cell.row, cell.bin) : null;
  });
  canvas.addEventListener('click', (event) => { const cell = cellAt(event.offsetX, event.offsetY); if (cell) open(cell); });
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && focus.on) {
      event.preventDefault();
      open(focus);
      return;
    }
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (!step) return;
    event.preventDefault();
    focus.row = Math.max(0, Math.min(heat.rows.length - 1, focus.row + (focus.on ? step[0] : 0)));
    focus.bin = Math.max(0, Math.min(heat.bins - 1, focus.bin + (focus.on ? step[1] : 0)));
    focus.on = true;
    told.textContent = say(focus.row, focus.bin);
    paint();
  });
  canvas.addEventListener('blur', () => { focus.on = false; paint(); });
  const places = [...new Set(run.heat.cells.map(([, , place]) => place))].filter((place) => place >= 0).sort((a, b) => a - b);
  const choice = h('select', {'aria-label': 'Function', onchange: () => {
    const wants = choices[choice.value] || ((place) => place === Number(choice.value));
    heat = withoutIdleRows(run.heat, wants);
    rowHeight = heightOfRow();
    canvas.style.height = `${heat.rows.length * rowHeight + axisHeight}px`;
    focus.row = Math.min(focus.row, heat.rows.length - 1);
    matrix = heatMatrix(heat, wants);
    unknown = notSampled(heat, wants);
    most = given !== null && choice.value === 'helped' ? given * heat.bin : highestOf(heat, matrix);
    describe();
    paint();
  }}, waits || given !== null ? h('option', {value: 'helped', text: 'all but those that wait by design'}) : null, h('option', {value: 'all', text: 'all functions'}), ...places.map((place) => h('option', {value: String(place), text: run.functions[place].name})));
  const scale = h('span', {text: ''});
  const legendBox = ownCanvas('', 11, (context, wide, tall) => {
    for (let x = 0; x < wide; x += 1) {
      context.fillStyle = heatColour(Math.sqrt(x / wide), isDark());
      context.fillRect(x, 0, 1.2, tall);
    }
  });
  legendBox.canvas.removeAttribute('tabindex');
  legendBox.canvas.setAttribute('aria-hidden', 'true');
  const idle = h('details', {class: 'about'}, h('summary'), h('p', {class: 'faint'}));
  function describe() {
    const [summary, names] = idle.children;
    idle.hidden = heat.idle.length === 0;
    summary.textContent = `${countText(heat.idle.length)} ${{thread: ['thread', 'threads'], process: ['process', 'processes']}[kind][heat.idle.length === 1 ? 0 : 1]} that lost nothing in ${choice.value === 'helped' || choice.value === 'all' ? 'these functions' : 'this function'} ${heat.idle.length === 1 ? 'has' : 'have'} no row`;
    names.textContent = heat.idle.join(', ');
    scale.textContent = most > 0 ? `${timeText(most)} lost in ${timeText(heat.bin)}` : 'nothing was lost';
    const sums = heat.rows.map((name, row) => [name, matrix.slice(row * heat.bins, (row + 1) * heat.bins).reduce((a, b) => a + b, 0)]).sort((a, b) => b[1] - a[1]);
    canvas.setAttribute('aria-label', `Heat map of lost time by ${kind} and time. Most: ${sums.slice(0, 3).map(([name, lost]) => `${name} ${timeText(lost)}`).join(', ')}`);
  }
  describe();
  const leads = goTo ? 'A click on a cell shows the single calls nearest to it, further below; with the keyboard, arrows move from cell to cell, and Enter is a click.'
    : 'With the keyboard, arrows move from cell to cell.';
  return h('section', {id, class: 'heat'}, h('h2', {text: 'When it was lost'}),
    h('p', {text: `Lost time by ${kind} (rows) and time in the run. A column is a phase in which all ${kind === 'thread' ? 'threads' : 'processes'} lose; a row is a ${kind} that loses more than the others. A call inside another one counts in both. ${heat.covers ? 'Of functions that are sampled in windows of time, the colour is a rate by the time that the windows cover; where they cover nothing, it is hatched. ' : ''}${leads}`}),
    h('div', {class: 'tools'}, h('label', {}, 'Function ', choice), h('span', {class: 'legend'}, '0', legendBox.canvas, scale)),
    canvas, told, idle,
    heat.approximate > 0 ? h('p', {class: 'faint', text: 'Part of the loss is divided among the times by the time spent: there were more sequences than could be distinguished.'}) : null);
}
