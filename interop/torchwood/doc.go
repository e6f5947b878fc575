// Package torchwood tests the log against filippo.io/torchwood, an independent
// implementation of the C2SP specifications. It is a module of its own, so that the library
// does not depend on torchwood.
package torchwood
