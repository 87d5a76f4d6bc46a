package library

const memfdCreate = 279
