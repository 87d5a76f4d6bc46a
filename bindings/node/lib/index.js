'use strict';

const { isTransient } = require('./drivers.js');
const { UidringError } = require('./errors.js');
const { events } = require('./events.js');
const { WorkerId } = require('./lend.js');
const { Masked, Opaque } = require('./masked.js');
const { PastGenerator } = require('./past.js');
const { Segments, Tag } = require('./segments.js');
const { Series, SeriesNumber } = require('./series.js');
const { UidGenerator } = require('./uids.js');

module.exports = {
  Masked,
  Opaque,
  PastGenerator,
  Segments,
  Series,
  SeriesNumber,
  Tag,
  UidGenerator,
  UidringError,
  WorkerId,
  events,
  isTransient,
};
