'use strict';

const day = (time) => time?.split('T')[0] ?? word('after_9999');
const widths = (row) => `${row.time_bits},${row.worker_bits},${row.sequence_bits}`;
const tick = (row) => (row.tick_ms === '1000' ? `1 ${word('second')}`
  : `${row.tick_ms} ${word('ms')}`);

function compared(row) {
  const needed = `${grouped(row.worker_ids)} (${grouped(row.worker_ids_needed)})`;
  const lasts = row.peak_may_last_ms === null ? word('for_ever') : length(row.peak_may_last_ms);
  return [word(`name.${row.name}`), word(row.fits ? 'fits.yes' : 'fits.no'), widths(row),
    tick(row), day(row.expires), needed, grouped(row.uids_per_second), lasts];
}

function reduced(change) {
  return word(`change.${change.what}`).replace('{to}', change.to).replace('{from}', change.from);
}

function refused({ report, reductions }) {
  return [element('p', `${word('too_much')} ${report.needs.bits}`), element('p', word('instead')),
    element('ul', null, ...reductions.map((way) =>
      element('li', way.map(reduced).join(language ? '，' : ', '))))];
}

function planned(plan) {
  const { report } = plan;
  const first = report.recommended;
  if (!first) return refused(plan);
  const drawn = [element('h2', `${word('name.recommended')}: ${widths(first)}`), list([
    [word('epoch'), day(first.epoch)],
    [word('tick'), tick(first)],
    [word('ends'), day(first.expires)],
    [word('starts'), `${grouped(first.worker_ids)} (${grouped(first.worker_ids_needed)})`],
    [word('uids_per_second'), grouped(first.uids_per_second)],
    [word('borrows'), length(first.peak_borrows_ms)],
    [word('costs'), grouped(first.worker_ids_per_peak)],
  ])];
  if (plan.default_is_enough) drawn.push(element('p', word('default.enough')));
  const columns = ['name', 'fits', 'layout', 'tick', 'ends', 'starts', 'uids_per_second',
    'may_last'].map(word);
  drawn.push(table(word('all'), columns, [first, ...report.others].map(compared)));
  const ways = [['Rust', first.rust], ...Object.entries(first.bindings),
    ['uidring', `uidring take ${first.flags}`]];
  drawn.push(table(word('ways'), ['', ''],
    ways.map(([name, code]) => [name, element('code', code)])));
  return drawn;
}

begin('plan.title', { ask: 'plan' }, planned);
