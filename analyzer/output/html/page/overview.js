/** The whole run by its bins: all there is to tell of a time outside of the windows with single calls. */
const STRIP_HEIGHT = 62;
const STRIP_AXIS = 16;
const MARK_HEIGHT = 14;
const ROWS_OF_RUN = 16;
const RUN_ROW = 16;

/** Where the run begins and ends. */
function rangeOfRun(run) {
  const ends = run.timelines.map((each) => each.begin + each.length);
  const {heat} = run;
  return heat ? {begin: heat.begin, end: Math.max(heat.begin + heat.bin * heat.bins, ...ends)} : {begin: 0, end: Math.max(run.duration, ...ends)};
}

/** Lost time by thread and bin, of the threads that lost most, without what waits by design. Null: nothing is known of the course. */
function courseOfRun(run) {
  const {heat} = run;
  if (!heat) return null;
  const byDesign = placesByDesign(run);
  const matrix = heatMatrix(heat, (place) => !byDesign.has(place));
  const rows = heat.rows.map((name, row) => {
    const mean = heat.others > 0 && row === heat.rows.length - 1 ? heat.others : 1;
    const lost = matrix.slice(row * heat.bins, (row + 1) * heat.bins);
    return {name, lost, shade: lost.map((each) => each / mean), sum: lost.reduce((a, b) => a + b, 0)};
  });
  const bins = Float64Array.from({length: heat.bins}, (_, bin) => rows.reduce((sum, row) => sum + row.lost[bin], 0));
  const most = [...rows].sort((a, b) => b.sum - a.sum).slice(0, ROWS_OF_RUN);
  return {heat, bins, rows: rows.filter((row) => most.includes(row)), left_out: Math.max(0, rows.length - ROWS_OF_RUN)};
}

/** What was lost from `begin` to `end`, a part of a bin in proportion. */
function lostBetween({heat, bins}, begin, end) {
  let sum = 0;
  bins.forEach((lost, bin) => {
    const from = heat.begin + bin * heat.bin;
    sum += lost * Math.max(0, Math.min(end, from + heat.bin) - Math.max(begin, from)) / heat.bin;
  });
  return sum;
}

function timeAxis(context, {view, left, wide, y}) {
  context.fillStyle = styleOf('--faint');
  const length = view.end - view.begin;
  for (let i = 0; i <= 4; i += 1) {
    context.textAlign = ['left', 'center', 'center', 'center', 'right'][i];
    const text = i === 0 ? momentText(view.begin, length / 10) : view.begin === 0 ? tickText(length * i / 4) : `+${tickText(length * i / 4)}`;
    context.fillText(text, left + (wide - left) * i / 4, y);
  }
  context.textAlign = 'left';
}

/** Triangles with the numbers of the windows, as far as they do not cover one another. */
function windowMarks(context, {run, x, left, wide, chosen, bottom}) {
  const order = run.timelines.map((each, i) => i).sort((a, b) => (b === chosen) - (a === chosen) || a - b);
  const taken = [];
  for (const i of order) {
    const at = x(run.timelines[i].begin + run.timelines[i].length / 2);
    if (at < left || at > wide) continue;
    context.fillStyle = styleOf(i === chosen ? '--ink' : '--accent');
    context.fillRect(at - 0.75, MARK_HEIGHT - 6, 1.5, bottom - MARK_HEIGHT + 6);
    context.beginPath();
    context.moveTo(at - 5, MARK_HEIGHT - 7);
    context.lineTo(at + 5, MARK_HEIGHT - 7);
    context.lineTo(at, MARK_HEIGHT);
    context.fill();
    if (taken.some((each) => Math.abs(each - at) < 18)) continue;
    taken.push(at);
    context.fillText(String(i + 1), Math.min(at + 6, wide - 14), 6);
  }
}

/**
 * A strip with the whole run: bars are what was lost in each bin, triangles the windows with single calls. `state`: its `view` is outlined, `enter(i)` shows a
 * window, `look(time)` the run around a moment.
 */
function runStrip({run, course, state, enter, look}) {
  const range = rangeOfRun(run);
  const order = run.timelines.map((each, i) => i).sort((a, b) => run.timelines[a].begin - run.timelines[b].begin);
  const place = (ns, wide) => wide * (ns - range.begin) / (range.end - range.begin);
  const bottom = STRIP_HEIGHT - STRIP_AXIS;
  const sum = course ? course.bins.reduce((a, b) => a + b, 0) : 0;
  const label = `The whole run: ${timeText(sum)} was lost; ${run.timelines.length} windows have single calls. Left and right choose a window, Enter opens it.`;
  let focus = null;
  const {canvas, paint} = ownCanvas(label, STRIP_HEIGHT, (context, wide) => {
    context.fillStyle = styleOf('--panel');
    context.fillRect(0, MARK_HEIGHT, wide, bottom - MARK_HEIGHT);
    if (course) {
      const most = Math.max(...course.bins);
      const width = place(course.heat.begin + course.heat.bin, wide);
      context.fillStyle = styleOf('--bar');
      course.bins.forEach((lost, bin) => {
        // A little is not nothing.
        const tall = lost > 0 ? Math.max(1.5, (bottom - MARK_HEIGHT) * lost / most) : 0;
        context.fillRect(bin * width, bottom - tall, width + 0.3, tall);
      });
    }
    windowMarks(context, {run, x: (ns) => place(ns, wide), left: 0, wide, chosen: focus === null ? state.window : focus, bottom});
    const left = place(state.view.begin, wide);
    outline(context, Math.min(left, wide - 4) + 1, MARK_HEIGHT + 1, Math.max(place(state.view.end, wide) - left - 2, 2), bottom - MARK_HEIGHT - 2);
    timeAxis(context, {view: range, left: 0, wide, y: STRIP_HEIGHT - STRIP_AXIS / 2});
  });
  const told = h('p', {class: 'faint', 'aria-live': 'polite'});
  const say = (i) => {
    const each = run.timelines[i];
    return `window ${i + 1}, at ${momentText(each.begin, each.length)}: ${timeText(each.lost)} lost in ${each.function}`;
  };
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && focus !== null) {
      event.preventDefault();
      enter(focus);
      return;
    }
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    const at = order.indexOf(focus === null ? state.window : focus);
    focus = order[at < 0 ? (step > 0 ? 0 : order.length - 1) : Math.max(0, Math.min(order.length - 1, at + step))];
    told.textContent = `${say(focus)} (Enter opens it)`;
    paint();
  });
  canvas.addEventListener('blur', () => { focus = null; told.textContent = ''; paint(); });
  const timeAt = (px) => range.begin + (range.end - range.begin) * px / canvas.clientWidth;
  /** The window whose mark is at a place; -1: there is none. */
  const near = (px) => {
    const distance = (i) => Math.abs(place(run.timelines[i].begin + run.timelines[i].length / 2, canvas.clientWidth) - px);
    const nearest = order.reduce((best, i) => (best < 0 || distance(i) < distance(best) ? i : best), -1);
    return nearest >= 0 && distance(nearest) <= 8 ? nearest : -1;
  };
  canvas.addEventListener('click', (event) => {
    const i = near(event.offsetX);
    if (i >= 0) enter(i);
    else look(timeAt(event.offsetX));
  });
  withTip(canvas, (px) => {
    const i = near(px);
    if (i >= 0) return say(i);
    if (!course) return null;
    const bin = Math.floor((timeAt(px) - course.heat.begin) / course.heat.bin);
    return bin >= 0 && bin < course.bins.length ? `${momentText(course.heat.begin + bin * course.heat.bin, course.heat.bin)}: lost ${timeText(course.bins[bin])} in ${timeText(course.heat.bin)}` : null;
  });
  return {node: h('div', {class: 'overview'}, canvas, told), paint};
}

const heightOfRun = (course) => MARK_HEIGHT + 2 + (course ? course.rows.length : 1) * RUN_ROW + 20;

/** The run, or a part of it, by thread: the colour of a bin is what was lost in it. */
function drawRun(context, {run, course, view, wide, chosen}) {
  const x = (ns) => NAME_WIDTH + (wide - NAME_WIDTH) * (ns - view.begin) / (view.end - view.begin);
  const rows = course ? course.rows : [{name: '', shade: []}];
  const most = Math.max(0, ...rows.map((row) => row.shade.reduce((a, b) => Math.max(a, b), 0)));
  const top = MARK_HEIGHT + 2;
  rows.forEach((row, i) => {
    const y = top + i * RUN_ROW;
    context.fillStyle = styleOf('--ink');
    context.fillText(fitted(context, row.name, NAME_WIDTH - 8), 0, y + RUN_ROW / 2);
    context.fillStyle = styleOf('--panel');
    context.fillRect(NAME_WIDTH, y, wide - NAME_WIDTH, RUN_ROW - 1);
    row.shade.forEach((lost, bin) => {
      const begin = course.heat.begin + bin * course.heat.bin;
      if (!(lost > 0) || begin > view.end || begin + course.heat.bin < view.begin) return;
      const left = Math.max(x(begin), NAME_WIDTH);
      context.fillStyle = heatColour(Math.sqrt(lost / most), isDark());
      context.fillRect(left, y, Math.min(x(begin + course.heat.bin), wide) - left + 0.3, RUN_ROW - 1);
    });
  });
  const bottom = top + rows.length * RUN_ROW;
  for (const each of run.timelines) {
    const left = Math.max(x(each.begin), NAME_WIDTH);
    const right = Math.min(x(each.begin + each.length), wide);
    // Narrow ones have their mark.
    if (right - left >= 4) outline(context, left, top, right - left, bottom - top - 1);
  }
  windowMarks(context, {run, x, left: NAME_WIDTH, wide, chosen, bottom});
  timeAxis(context, {view, left: NAME_WIDTH, wide, y: bottom + 11});
}

/** What the bins tell of a place in it; null: nothing. */
function sayOfRun({course, view, px, py, wide}) {
  if (!course || px < NAME_WIDTH) return null;
  const row = course.rows[Math.floor((py - MARK_HEIGHT - 2) / RUN_ROW)];
  const {begin, bin: step} = course.heat;
  const bin = Math.floor((view.begin + (view.end - view.begin) * (px - NAME_WIDTH) / (wide - NAME_WIDTH) - begin) / step);
  if (!row || !(bin >= 0 && bin < course.bins.length)) return null;
  return `${row.name}\nlost ${timeText(row.shade[bin])} in the ${timeText(step)} from ${momentText(begin + bin * step, step)} on`;
}
