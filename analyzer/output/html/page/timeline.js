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
  context.rect(NAME_WIDTH, place.top, wide - NAME_WIDTH, place.height);
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
    context.fillStyle = colour;
    context.fillRect(left, y, width, LANE_ROW - 1);
    context.globalAlpha = 1;
    if (flags & 1) outline(context, left + 1, y + 1, Math.max(width - 2, 1), LANE_ROW - 3);
    context.fillStyle = inkOn(colour);
    context.fillText(fitted(context, data.names[name], width - 6), left + 3, y + LANE_ROW / 2);
  }
  for (const [begin, end, preempted] of lane.off) {
    context.fillStyle = preempted ? '#d55e00' : '#777777';
    context.fillRect(Math.max(x(begin), NAME_WIDTH), place.top + place.height - OFF_HEIGHT + 1, Math.max(x(end) - x(begin), 0.8), OFF_HEIGHT - 1);
  }
  context.restore();
}

/** What is at a place, in words. */
function sayOfLane({data, lane, time, depth}) {
  const slice = lane.slices.find(([begin, end, , level]) => level === depth && begin <= time && time <= end);
  if (slice) {
    const [begin, end, name, , calls, flags] = slice;
    const many = calls > 1 ? `${countText(calls)} short calls, mostly ` : '';
    return `${lane.thread}\n${many}${data.names[name]}: ${timeText(end - begin)}${flags & 2 ? ', not seen to end' : ''}${flags & 1 ? '\nthe call that this is about' : ''}`;
  }
  const off = lane.off.find(([begin, end]) => begin <= time && time <= end);
  if (off) return `${lane.thread}\noff the processor for ${timeText(off[1] - off[0])}: ${off[2] ? 'another thread had it' : 'it waited'}`;
  return null;
}

/** What a thread was inside of in the part that is shown, the longest first, and how long it was off the processor. */
function sayOfThread({data, lane, view}) {
  const shown = ([begin, end]) => Math.min(end, view.end) - Math.max(begin, view.begin);
  const longest = lane.slices.filter((each) => shown(each) > 0).sort((a, b) => shown(b) - shown(a)).slice(0, 4);
  const told = longest.map((each) => `${each[4] > 1 ? `${countText(each[4])} short calls, mostly ` : ''}${data.names[each[2]]} ${timeText(shown(each))}`);
  const off = [0, 1].map((preempted) => lane.off.filter((each) => each[2] === preempted).reduce((sum, each) => sum + Math.max(shown(each), 0), 0));
  if (off[0] > 0) told.push(`it waited for ${timeText(off[0])}`);
  if (off[1] > 0) told.push(`another thread had its processor for ${timeText(off[1])}`);
  return `${lane.thread}: ${told.join(', ') || 'no calls'}`;
}

function timeline(data) {
  const view = {begin: 0, end: data.length};
  let chosen = -1;
  const {places, height} = lanePlaces(data.lanes);
  const {canvas, paint} = ownCanvas(`Timeline around a call of ${data.function}. ${data.lanes.slice(0, 4).map((lane) => sayOfThread({data, lane, view})).join('. ')}`, height, (context, wide) => {
    const x = (ns) => NAME_WIDTH + (wide - NAME_WIDTH) * (ns - view.begin) / (view.end - view.begin);
    context.fillStyle = styleOf('--line');
    context.fillRect(Math.max(x(data.call[0]), NAME_WIDTH), 0, Math.max(0, Math.min(x(data.call[1]), wide) - Math.max(x(data.call[0]), NAME_WIDTH)), height - 20);
    data.lanes.forEach((lane, i) => drawLane(context, {data, lane, place: places[i], x, view, wide}));
    if (chosen >= 0) outline(context, 2, places[chosen].top + 1, wide - 4, places[chosen].height);
    context.fillStyle = styleOf('--faint');
    const step = (view.end - view.begin) / 10;
    for (let i = 0; i <= 4; i += 1) {
      context.textAlign = ['left', 'center', 'center', 'center', 'right'][i];
      const since = (view.end - view.begin) * i / 4;
      context.fillText(i === 0 ? momentText(data.begin + view.begin, step) : `+${tickText(since)}`, NAME_WIDTH + (wide - NAME_WIDTH) * i / 4, height - 9);
    }
    context.textAlign = 'left';
  });
  const timeAt = (px) => view.begin + (view.end - view.begin) * (px - NAME_WIDTH) / (canvas.clientWidth - NAME_WIDTH);
  const told = h('p', {class: 'faint', 'aria-live': 'polite'});
  /** Zooms by `factor` so that `time` stays in its place, and moves by a share of the view. */
  function change(factor, time, move = 0) {
    const length = Math.min(data.length, Math.max((view.end - view.begin) * factor, 10));
    let begin = time - (time - view.begin) * length / (view.end - view.begin) + move * length;
    begin = Math.max(0, Math.min(begin, data.length - length));
    view.begin = begin;
    view.end = begin + length;
    told.textContent = `${momentText(data.begin + view.begin, length / 10)} to ${momentText(data.begin + view.end, length / 10)} of the run`;
    paint();
  }
  function choose(step) {
    chosen = Math.max(0, Math.min(data.lanes.length - 1, chosen + step));
    told.textContent = sayOfThread({data, lane: data.lanes[chosen], view});
    paint();
  }
  canvas.addEventListener('blur', () => { chosen = -1; paint(); });
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && Math.abs(event.deltaY) > Math.abs(event.deltaX) && document.activeElement !== canvas) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) change(1, view.begin, event.deltaX / 500);
    else change(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.offsetX));
  }, {passive: false});
  let drag = null;
  canvas.addEventListener('pointerdown', (event) => { drag = event.offsetX; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener('pointermove', (event) => {
    if (drag === null) return;
    change(1, view.begin, (drag - event.offsetX) / (canvas.clientWidth - NAME_WIDTH));
    drag = event.offsetX;
  });
  canvas.addEventListener('pointerup', () => { drag = null; });
  canvas.addEventListener('keydown', (event) => {
    const middle = (view.begin + view.end) / 2;
    const moves = {'+': () => change(0.7, middle), '=': () => change(0.7, middle), '-': () => change(1 / 0.7, middle),
      ArrowLeft: () => change(1, middle, -0.2), ArrowRight: () => change(1, middle, 0.2),
      ArrowUp: () => choose(-1), ArrowDown: () => choose(1), Home: () => change(data.length, 0)};
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  });
  withTip(canvas, (px, py) => {
    const i = places.findIndex((place) => py >= place.top && py < place.top + place.height);
    if (i < 0 || px < NAME_WIDTH) return null;
    return sayOfLane({data, lane: data.lanes[i], time: timeAt(px), depth: Math.floor((py - places[i].top) / LANE_ROW)});
  });
  const button = (text, label, action) => h('button', {type: 'button', text, 'aria-label': label, onclick: action});
  const tools = h('div', {class: 'tools'}, button('+', 'Zoom in', () => change(0.5, (data.call[0] + data.call[1]) / 2)),
    button('−', 'Zoom out', () => change(2, (view.begin + view.end) / 2)), button('all', 'Show the whole window', () => change(data.length, 0)), told);
  return h('div', {class: 'timeline'}, tools, canvas);
}

function noTimelines(run) {
  const text = `Single calls are shown of functions that score at least ${run.threshold.toFixed(2)} (--threshold) and do not wait by design: there are none.`;
  return h('section', {}, h('h2', {text: 'Around the largest losses'}), h('p', {class: 'faint', text}));
}

function timelinesSection(run, number) {
  const box = h('div');
  const about = h('p');
  const choice = h('select', {'aria-label': 'Call', onchange: () => show(Number(choice.value))},
    ...run.timelines.map((each, i) => h('option', {value: String(i), text: `${timeText(each.lost)} lost in ${each.function}, at ${momentText(each.begin, each.length)}`})));
  function show(i) {
    const data = run.timelines[i];
    const told = [`A call of ${data.function} in thread ${data.thread} took ${timeText(data.duration)} and lost ${timeText(data.lost)} of it (outlined).`];
    if (data.shortened) told.push('The window begins inside of it: more events would have had to be read.');
    const dropped = data.lanes.reduce((sum, lane) => sum + (lane.left_out || 0), 0);
    if (dropped > 0) told.push(`There was no room for ${countText(dropped)} of the shortest boxes, which look as if the thread had been outside of calls.`);
    if (data.left_out > 0) told.push(`${countText(data.left_out)} more threads were inside calls meanwhile.`);
    about.textContent = told.join(' ');
    box.replaceChildren(timeline(data));
  }
  show(0);
  return h('section', {id: `timelines-${number}`}, h('h2', {text: 'Around the largest losses'}),
    h('p', {text: 'What every thread was inside of meanwhile. Pale boxes are several short calls. The thin line below each thread: grey, it waited; dark orange, another thread had its processor. Calls that began long before the window are not drawn. Ctrl and the wheel zoom, dragging moves; with the keyboard, + and − zoom, left and right move, up and down tell what a thread did.'}),
    h('div', {class: 'tools'}, h('label', {}, 'Call ', choice)), about, box);
}
