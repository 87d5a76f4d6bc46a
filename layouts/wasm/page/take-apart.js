'use strict';

const presets = document.getElementById('preset');
for (const { name } of ask({ ask: 'presets' })) {
  const option = element('option', name);
  option.value = name;
  presets.append(option);
}

const worker = (record) => record.worker ?? word('none');
const utc = (record) => record.time ?? word('after_9999');

function local(time) {
  const style = { dateStyle: 'medium', timeStyle: 'long' };
  return time ? new Date(time).toLocaleString(language ? 'zh-CN' : 'en', style) : '';
}

function apart({ record, format, doubt, presets: all }) {
  const rows = [['uid', record.uid], ['base32', record.base32], ['time', utc(record)],
    ['local', local(record.time)], ['worker', worker(record)], ['sequence', record.sequence],
    ['format', format]];
  const drawn = [list(rows.filter(([, value]) => value).map(([name, value]) =>
    [word(name), value]))];
  if (doubt) {
    const said = element('p', word(`doubt.${doubt}`));
    said.className = 'doubt';
    drawn.push(said);
  }
  const columns = ['preset', 'time', 'worker', 'sequence'].map(word);
  const fields = (by) =>
    [by.name, utc(by.record), worker(by.record), by.record.sequence];
  const possible = all.filter((by) => !by.doubt);
  const impossible = all.filter((by) => by.doubt);
  if (possible.length) drawn.push(table(word('by.possible'), columns, possible.map(fields)));
  if (impossible.length) {
    drawn.push(table(word('by.impossible'), [...columns, word('why')],
      impossible.map((by) => [...fields(by), word(`why.${by.doubt}`)])));
  }
  return drawn;
}

begin('apart.title', { ask: 'apart' }, apart);
