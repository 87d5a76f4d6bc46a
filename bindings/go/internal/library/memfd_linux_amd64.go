package library

const memfdCreate = 319
