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
    if (flags & 1) {
      context.strokeStyle = styleOf('--mark');
      context.lineWidth = 3;
      context.strokeRect(left, y, width, LANE_ROW - 2);
    }
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

function timeline(data) {
  const view = {begin: 0, end: data.length};
  const {places, height} = lanePlaces(data.lanes);
  const {canvas, paint} = ownCanvas(`Timeline around a call of ${data.function}`, height, (context, wide) => {
    const x = (ns) => NAME_WIDTH + (wide - NAME_WIDTH) * (ns - view.begin) / (view.end - view.begin);
    context.fillStyle = styleOf('--line');
    context.fillRect(Math.max(x(data.call[0]), NAME_WIDTH), 0, Math.max(0, Math.min(x(data.call[1]), wide) - Math.max(x(data.call[0]), NAME_WIDTH)), height - 20);
    data.lanes.forEach((lane, i) => drawLane(context, {data, lane, place: places[i], x, view, wide}));
    context.fillStyle = styleOf('--faint');
    for (let i = 0; i <= 4; i += 1) {
      context.textAlign = ['left', 'center', 'center', 'center', 'right'][i];
      const since = (view.end - view.begin) * i / 4;
      context.fillText(i === 0 ? timeText(data.begin + view.begin) : `+${timeText(since)}`, NAME_WIDTH + (wide - NAME_WIDTH) * i / 4, height - 9);
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
    told.textContent = `${timeText(data.begin + view.begin)} to ${timeText(data.begin + view.end)} of the run`;
    paint();
  }
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
      ArrowLeft: () => change(1, middle, -0.2), ArrowRight: () => change(1, middle, 0.2), Home: () => change(data.length, 0)};
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

function timelinesSection(run, number) {
  const box = h('div');
  const about = h('p');
  const choice = h('select', {'aria-label': 'Call', onchange: () => show(Number(choice.value))},
    ...run.timelines.map((each, i) => h('option', {value: String(i), text: `${timeText(each.lost)} lost in ${each.function}, at ${timeText(each.begin)}`})));
  function show(i) {
    const data = run.timelines[i];
    const told = [`A call of ${data.function} in thread ${data.thread} took ${timeText(data.duration)} and lost ${timeText(data.lost)} of it (outlined).`];
    if (data.shortened) told.push('The window begins inside of it: more events would have had to be read.');
    if (data.left_out > 0) told.push(`${countText(data.left_out)} more threads were inside calls meanwhile.`);
    about.textContent = told.join(' ');
    box.replaceChildren(timeline(data));
  }
  show(0);
  return h('section', {id: `timelines-${number}`}, h('h2', {text: 'Around the largest losses'}),
    h('p', {text: 'What every thread was inside of meanwhile. Pale boxes are several short calls. Below each thread, grey: it waited; orange: another thread had its processor. Calls that began long before the window are not drawn.'}),
    h('div', {class: 'tools'}, h('label', {}, 'Call ', choice)), about, box);
}
