// Package torchwood compares the log with filippo.io/torchwood, an independent
// implementation of the C2SP specifications, unmodified. It is a module of its
// own, so that the library does not depend on it.
package torchwood
