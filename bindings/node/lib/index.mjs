import uidring from './index.js';

export const {
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
} = uidring;
