const LANE_ROW = 16;
const LANE_GAP = 8;
const OFF_HEIGHT = 5;
const NAME_WIDTH = 120;

/** Where each lane begins, and how high all of them are. */
function lanePlaces(lanes) {
  let top = 0;
  const places = lanes.map((lane) => {
    const deepest = lane.slices.reduce((most, slice) => Math.max(most, slice[3]), 0);
    const place = {top, height: (deepest + 1) * LANE_ROW + OFF_HEIGHT};
    top += place.height + LANE_GAP;
    return place;
  });
  return {places, height: top + 20};
}

function drawLane(context, {data, lane, place, x, view, wide}) {
  context.fillStyle = styleOf('--ink');
  context.fillText(fitted(context, lane.thread, NAME_WIDTH - 8), 0, place.top + LANE_ROW / 2);
  context.save();
  context.beginPath();
  context.rect(NAME_WIDTH, place.top, wide - NAME_WIDTH, place.height + 2);
  context.clip();
  context.fillStyle = styleOf('--paper');
  context.fillRect(NAME_WIDTH, place.top, wide - NAME_WIDTH, place.height);
  for (const [begin, end, name, depth, calls, flags] of lane.slices) {
    if (end < view.begin || begin > view.end) continue;
    const left = Math.max(x(begin), NAME_WIDTH);
    const width = Math.max(x(end) - left, 0.8);
    const y = place.top + depth * LANE_ROW;
    const colour = colourOf(data.names[name]);
    context.globalAlpha = calls > 1 ? 0.55 : 1;
    edged(context, colour, left, y, width, LANE_ROW - 1);
    context.globalAlpha = 1;
    if (flags & 1) outline(context, left + 1, y + 1, Math.max(width - 2, 1), LANE_ROW - 3);
    context.fillStyle = inkOn(colour);
    context.fillText(fitted(context, data.names[name], width - 6), left + 3, y + LANE_ROW / 2);
  }
  for (const [begin, end, preempted] of lane.off) {
    context.fillStyle = preempted ? '#d55e00' : '#777777';
    context.fillRect(Math.max(x(begin), NAME_WIDTH), place.top + place.height - OFF_HEIGHT + 1, Math.max(x(end) - x(begin), 0.8), OFF_HEIGHT - 1);
  }
  context.fillStyle = styleOf('--accent');
  for (const [begin, end] of lane.waits) context.fillRect(Math.max(x(begin), NAME_WIDTH), place.top + place.height, Math.max(x(end) - Math.max(x(begin), NAME_WIDTH), 0.8), 2);
  context.restore();
}

/** Edges narrower than this many pixels are not drawn. */
const LEAST_WAIT = 6;
/** From who is waited for to who waits, at the end of each wait. */
function drawWaits(context, {data, places, x, wide}) {
  context.strokeStyle = styleOf('--accent');
  context.fillStyle = styleOf('--accent');
  context.lineWidth = 1.5;
  data.lanes.forEach((lane, i) => lane.waits.forEach(([begin, end, other]) => {
    const at = x(end);
    if (other < 0 || other === i || at < NAME_WIDTH || at > wide || at - x(begin) < LEAST_WAIT) return;
    const down = other < i;
    const from = down ? places[other].top + places[other].height : places[other].top;
    const to = down ? places[i].top : places[i].top + places[i].height + 2;
    context.beginPath();
    context.moveTo(at, from);
    context.lineTo(at, to);
    context.stroke();
    context.beginPath();
    context.moveTo(at, to);
    context.lineTo(at - 3, to + (down ? -6 : 6));
    context.lineTo(at + 3, to + (down ? -6 : 6));
    context.fill();
  }));
}

/** Who had the processor of a thread that was preempted, in words. */
function sayOfProcessor(data, [out, back, , who, ticks]) {
  if (!(who >= 0)) return {'-1': 'another program had it', '-2': 'the recorder had it', '-3': 'another thread of the program had it'}[who] || 'something else had it';
  return `${data.names[who]} had it${ticks < 0.95 * (back - out) ? `, for ${timeText(ticks)} of that` : ''}`;
}

/** What is at a place, in words. */
function sayOfLane({data, lane, time, depth}) {
  const wait = lane.waits.find(([begin, end]) => begin <= time && time <= end);
  const waiting = wait ? `\n${data.names[wait[3]]}: ${timeText(wait[1] - wait[0])}` : '';
  const off = lane.off.find(([begin, end]) => begin <= time && time <= end);
  const away = off ? `\noff the processor for ${timeText(off[1] - off[0])}: ${off[2] ? sayOfProcessor(data, off) : 'it waited'}` : '';
  const slice = lane.slices.find(([begin, end, , level]) => level === depth && begin <= time && time <= end);
  if (slice) {
    const [begin, end, name, , calls, flags, lost] = slice;
    const loss = lost === undefined || flags & 1 ? '' : `, lost ${timeText(lost)}`;
    const many = calls > 1 ? `${countText(calls)} short calls, mostly ` : '';
    return `${lane.thread}\n${many}${data.names[name]}: ${timeText(end - begin)}${loss}${flags & 2 ? ', not seen to end' : ''}${flags & 1 ? `\nthe call that this is about: lost ${timeText(data.lost)}` : ''}${away}${waiting}`;
  }
  if (off) return `${lane.thread}${away}${waiting}`;
  return wait ? `${lane.thread}${waiting}` : null;
}

/** What a thread was inside of in the part that is shown, the longest first, and how long it was off the processor. */
function sayOfThread({data, lane, view}) {
  const shown = ([begin, end]) => Math.min(end, view.end) - Math.max(begin, view.begin);
  const longest = lane.slices.filter((each) => shown(each) > 0).sort((a, b) => shown(b) - shown(a)).slice(0, 4);
  const told = longest.map((each) => `${each[4] > 1 ? `${countText(each[4])} short calls, mostly ` : ''}${data.names[each[2]]} ${timeText(shown(each))}`);
  const off = [0, 1].map((preempted) => lane.off.filter((each) => each[2] === preempted).reduce((sum, each) => sum + Math.max(shown(each), 0), 0));
  if (off[0] > 0) told.push(`it waited for ${timeText(off[0])}`);
  const preempted = lane.off.filter((each) => each[2] && shown(each) > 0).sort((a, b) => shown(b) - shown(a))[0];
  if (preempted) told.push(`it was preempted for ${timeText(off[1])}: ${sayOfProcessor(data, preempted)}${off[1] > shown(preempted) ? ', the longest time' : ''}`);
  const wait = lane.waits.filter((each) => shown(each) > 0).sort((a, b) => shown(b) - shown(a))[0];
  if (wait) told.push(`${data.names[wait[3]]} for ${timeText(shown(wait))}`);
  return `${lane.thread}: ${told.join(', ') || 'no calls'}`;
}

/** The lanes of a window. `view` in nanoseconds since the window's begin. */
function drawWindow(context, {data, places, view, chosen, wide, height}) {
  const x = (ns) => NAME_WIDTH + (wide - NAME_WIDTH) * (ns - view.begin) / (view.end - view.begin);
  context.fillStyle = styleOf('--line');
  context.fillRect(Math.max(x(data.call[0]), NAME_WIDTH), 0, Math.max(0, Math.min(x(data.call[1]), wide) - Math.max(x(data.call[0]), NAME_WIDTH)), height - 20);
  data.lanes.forEach((lane, i) => drawLane(context, {data, lane, place: places[i], x, view, wide}));
  drawWaits(context, {data, places, x, wide});
  if (chosen >= 0) outline(context, 2, places[chosen].top + 1, wide - 4, places[chosen].height);
  timeAxis(context, {view: {begin: data.begin + view.begin, end: data.begin + view.end}, left: NAME_WIDTH, wide, y: height - 9});
}

/** What a window is about, and what it lacks. */
function sayOfWindow(data) {
  const told = [`A call of ${data.function} in thread ${data.thread} took ${timeText(data.duration)} and lost ${timeText(data.lost)} of it (outlined).`];
  if (data.shortened) told.push('The window begins inside of it: more events would have had to be read.');
  const sum = (key) => data.lanes.reduce((all, lane) => all + (lane[key] || 0), 0);
  if (sum('left_out') > 0) told.push(`There was no room for ${countText(sum('left_out'))} of the shortest boxes, which look as if the thread had been outside of calls.`);
  if (sum('off_left_out') > 0) told.push(`There was no room for ${countText(sum('off_left_out'))} of the shortest times off the processor, which look as if the thread had been on one.`);
  if (data.left_out > 0) told.push(`${countText(data.left_out)} more threads ran or were inside calls meanwhile.`);
  return told.join(' ');
}

/** Two buttons, a canvas and where it is: the run by its bins, or a window with single calls. `changed()` is called after each step. */
function timeline(run, course, state, changed) {
  const range = rangeOfRun(run);
  const laid = run.timelines.map((each) => lanePlaces(each.lanes));
  const about = h('p');
  const told = h('p', {class: 'faint', 'aria-live': 'polite'});
  let chosen = -1;
  const open = () => (state.window < 0 ? null : run.timelines[state.window]);
  const inside = () => ({begin: state.view.begin - open().begin, end: state.view.end - open().begin});
  const {canvas, paint} = ownCanvas('', 100, (context, wide, height) => {
    if (open()) drawWindow(context, {data: open(), places: laid[state.window].places, view: inside(), chosen, wide, height});
    else drawRun(context, {run, course, view: state.view, wide, chosen: state.last});
  });
  const limits = () => (open() ? {begin: open().begin, end: open().begin + open().length} : range);
  function tell() {
    const {begin, end} = state.view;
    const step = (end - begin) / 10;
    const lost = open() || !course ? '' : `: lost ${timeText(lostBetween(course, begin, end))}; single calls are shown only in the numbered windows`;
    told.textContent = `${momentText(begin, step)} to ${momentText(end, step)} of the run${lost}`;
  }
  function repaint() {
    tell();
    paint();
    changed();
  }
  /** Another window (-1: the run), seen as a whole if no view is given. */
  function show(window, view) {
    state.window = window;
    if (window >= 0) state.last = window;
    chosen = -1;
    const {begin, end} = limits();
    state.view = view || {begin, end};
    canvas.style.height = `${open() ? laid[window].height : heightOfRun(course)}px`;
    about.textContent = open() ? sayOfWindow(open()) : `The run by thread${course ? `: a colour is what was lost in ${timeText(course.heat.bin)}, without waiting by design` : ''}. ` +
      `Outside of the ${run.timelines.length === 1 ? 'numbered window' : `${run.timelines.length} numbered windows`}, this page has no single calls.${course && course.left_out > 0 ? ` ${countText(course.left_out)} more rows are in the heat map.` : ''}`;
    canvas.setAttribute('aria-label', open() ? `Timeline around a call of ${open().function}. ${open().lanes.slice(0, 4).map((lane) => sayOfThread({data: open(), lane, view: inside()})).join('. ')}`
      : `The run by thread. ${course ? [...course.rows].sort((a, b) => b.sum - a.sum).slice(0, 4).map((row) => `${row.name} lost ${timeText(row.sum)}`).join(', ') : ''}`);
    repaint();
  }
  /** The window around `time`, or the nearest that is in the view; -1: none. */
  function windowNear(time) {
    const distance = ({begin, length}) => Math.max(begin - time, time - begin - length, 0);
    return run.timelines.reduce((best, each, i) => (each.begin + each.length < state.view.begin || each.begin > state.view.end ? best
      : best < 0 || distance(each) < distance(run.timelines[best]) ? i : best), -1);
  }
  /** Zooms by `factor` so that `time` stays in its place, and moves by a share of the view. Beyond a window there is the run, and the other way round. */
  function change(factor, time, move = 0) {
    const before = state.view.end - state.view.begin;
    if (open() && factor > 1 && before >= 0.999 * open().length && before < range.end - range.begin) show(-1, {...state.view});
    const {begin: first, end: last} = limits();
    const least = open() ? 10 : Math.min(...run.timelines.map((each) => each.length));
    const length = Math.min(last - first, Math.max(before * factor, least));
    if (!open() && factor < 1) {
      const near = windowNear(time);
      if (near >= 0 && length <= 2 * run.timelines[near].length) {
        show(near);
        return;
      }
    }
    let begin = time - (time - state.view.begin) * length / before + move * length;
    begin = Math.max(first, Math.min(begin, last - length));
    state.view = {begin, end: begin + length};
    repaint();
  }
  const timeAt = (px) => state.view.begin + (state.view.end - state.view.begin) * (px - NAME_WIDTH) / (canvas.clientWidth - NAME_WIDTH);
  const middle = () => (state.view.begin + state.view.end) / 2;
  /** What is worth zooming in on: the call; of the run, the window that was open, if it is there, or the nearest. */
  function target() {
    if (open()) return middle();
    const near = (each) => each && each.begin < state.view.end && each.begin + each.length > state.view.begin;
    const last = run.timelines[state.last];
    const i = near(last) ? state.last : windowNear(middle());
    return i < 0 ? middle() : run.timelines[i].begin + run.timelines[i].length / 2;
  }
  /** The whole window, and beyond that the whole run. */
  function whole() {
    const all = !open() || state.view.end - state.view.begin >= 0.999 * open().length;
    show(all ? -1 : state.window);
  }
  function choose(step) {
    if (!open()) return;
    chosen = Math.max(0, Math.min(open().lanes.length - 1, chosen + step));
    told.textContent = sayOfThread({data: open(), lane: open().lanes[chosen], view: inside()});
    paint();
  }
  canvas.addEventListener('blur', () => { chosen = -1; paint(); });
  canvas.addEventListener('wheel', (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    // The wheel alone scrolls the page.
    if (!event.ctrlKey && !event.metaKey && !sideways) return;
    event.preventDefault();
    if (sideways) change(1, state.view.begin, event.deltaX / 500);
    else change(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.offsetX));
  }, {passive: false});
  let drag = null;
  canvas.addEventListener('pointerdown', (event) => { drag = {at: event.offsetX, moved: false}; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener('pointermove', (event) => {
    if (drag === null) return;
    drag.moved = drag.moved || Math.abs(drag.at - event.offsetX) > 3;
    if (!drag.moved) return;
    change(1, state.view.begin, (drag.at - event.offsetX) / (canvas.clientWidth - NAME_WIDTH));
    drag.at = event.offsetX;
  });
  canvas.addEventListener('pointerup', (event) => {
    const clicked = drag !== null && !drag.moved;
    drag = null;
    if (!clicked || open()) return;
    const px = (each) => Math.abs(NAME_WIDTH + (canvas.clientWidth - NAME_WIDTH) * (each.begin + each.length / 2 - state.view.begin) / (state.view.end - state.view.begin) - event.offsetX);
    const near = windowNear(timeAt(event.offsetX));
    if (near >= 0 && px(run.timelines[near]) <= 8) show(near);
  });
  canvas.addEventListener('keydown', (event) => {
    const moves = {w: () => change(0.7, target()), s: () => change(1 / 0.7, middle()), a: () => change(1, middle(), -0.2), d: () => change(1, middle(), 0.2),
      '+': () => change(0.7, target()), '=': () => change(0.7, target()), '-': () => change(1 / 0.7, middle()),
      ArrowLeft: () => change(1, middle(), -0.2), ArrowRight: () => change(1, middle(), 0.2),
      ArrowUp: () => choose(-1), ArrowDown: () => choose(1), Home: whole,
      Enter: () => { const near = windowNear(target()); if (!open() && near >= 0) show(near); }};
    if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[event.key]();
  });
  withTip(canvas, (px, py) => {
    if (!open()) return sayOfRun({course, view: state.view, px, py, wide: canvas.clientWidth});
    const {places} = laid[state.window];
    const i = places.findIndex((place) => py >= place.top && py < place.top + place.height);
    if (i < 0 || px < NAME_WIDTH) return null;
    return sayOfLane({data: open(), lane: open().lanes[i], time: timeAt(px) - open().begin, depth: Math.floor((py - places[i].top) / LANE_ROW)});
  });
  const button = (text, label, action) => h('button', {type: 'button', text, 'aria-label': label, onclick: action});
  const call = () => (open() ? open().begin + (open().call[0] + open().call[1]) / 2 : target());
  const tools = h('div', {class: 'tools'}, button('+', 'Zoom in', () => change(0.5, call())), button('−', 'Zoom out', () => change(2, middle())),
    button('window', 'Show the whole window', () => show(state.window < 0 ? state.last : state.window)), button('run', 'Show the whole run', () => show(-1)), told);
  return {node: h('div', {class: 'timeline'}, about, tools, canvas), show, canvas, change};
}

function noTimelines(run) {
  const text = `Single calls are shown for functions that score at least ${run.threshold.toFixed(2)} (--threshold) or lost most, and do not wait by design: there are none.`;
  return h('section', {}, h('h2', {text: 'Around the largest losses'}), h('p', {class: 'faint', text}));
}

/** The section, and `goTo(begin, end, thread)`, which shows the window nearest to a time and says how near that is. */
function timelinesSection(run, number) {
  const course = courseOfRun(run);
  const state = {window: 0, last: 0, view: {begin: 0, end: 1}};
  const found = h('p', {'aria-live': 'polite'});
  let lanes = null;
  let strip = null;
  function enter(i) {
    found.textContent = '';
    lanes.show(i);
  }
  const choice = h('select', {'aria-label': 'Window', onchange: () => enter(Number(choice.value))}, h('option', {value: '-1', text: 'none: the whole run'}),
    ...run.timelines.map((each, i) => h('option', {value: String(i), text: `${i + 1}: ${timeText(each.lost)} lost in ${each.function}, at ${momentText(each.begin, each.length)}`})));
  lanes = timeline(run, course, state, () => {
    choice.value = String(state.window);
    if (strip) strip.paint();
  });
  strip = runStrip({run, course, state, enter, look: (time) => {
    const range = rangeOfRun(run);
    const length = (range.end - range.begin) / 8;
    const begin = Math.max(range.begin, Math.min(time - length / 2, range.end - length));
    lanes.show(-1, {begin, end: begin + length});
  }});
  lanes.show(0);
  const node = h('section', {id: `timelines-${number}`}, h('h2', {text: 'Around the largest losses'}),
    h('p', {text: `The strip is the whole run: bars are the time lost in each part, triangles the ${run.timelines.length === 1 ? 'window' : `${run.timelines.length} windows`} around the largest losses, for which the page shows the single calls of every thread. For the rest of the run it has only sums by part of the run. Click a triangle, or choose one with left, right and Enter.`}),
    h('p', {text: 'In a window, pale boxes are several short calls. The thin line below each thread: grey, it waited; dark orange, something else had its processor (the tooltip says who, where that is known); blue, it is known for whom it waited, and an arrow at the end comes from that thread. Calls that began long before the window are not drawn. Ctrl and the wheel zoom, dragging moves; with the keyboard, + and − (or w and s) zoom, left and right (or a and d) move, up and down describe what a thread did. Zooming out of a window shows the run, zooming in on a window its calls.'}),
    strip.node, h('div', {class: 'tools'}, h('label', {}, 'Window ', choice)), found, lanes.node);
  /** As far as possible one with a lane of the thread. */
  function goTo(begin, end, thread) {
    const distance = (each) => Math.max(each.begin - end, begin - each.begin - each.length, 0);
    const foreign = (each) => (each.lanes.some((lane) => lane.thread === thread) ? 0 : 1);
    const order = run.timelines.map((each, i) => i).sort((a, b) => distance(run.timelines[a]) - distance(run.timelines[b]) || foreign(run.timelines[a]) - foreign(run.timelines[b]));
    const away = distance(run.timelines[order[0]]);
    enter(order[0]);
    found.textContent = away > 0 ? `There are no single calls of that time: this window is the nearest, ${timeText(away)} ${run.timelines[order[0]].begin > end ? 'later' : 'earlier'}.` : 'A window of that time.';
    node.scrollIntoView({block: 'start'});
    lanes.canvas.focus({preventScroll: true});
  }
  return {node, goTo};
}
