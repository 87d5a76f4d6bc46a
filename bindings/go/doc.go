// Package uidring makes unique, positive 64-bit ids that sort by time, dense numbers, and numbers
// that people see, inside the process of a program.
//
// A [Generator] gives ids, each a [Uid]; its store, a file of SQLite or a server, gives it a worker
// id that no other program has, and is not asked for each id. [Segments] give dense numbers (1, 2,
// 3), and [Series] numbers such as SO20261124-000042, also without a gap, in the transaction that
// stores the document. [Past] gives ids to rows that are older than these, [Masked] and [Opaque]
// hide what an id tells, and a [Worker] is a worker id for a generator of another's.
//
// Any goroutine may use each of them. What may wait for a store takes a context, and returns its
// error when that ends. Each other error is an [*Error].
package uidring
