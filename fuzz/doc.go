// Package fuzz holds a fuzz target for each reader of outside bytes that can be
// reached from outside its package, and the properties that must hold whatever
// the bytes are: it never panics; what it accepts is in the one canonical
// encoding; what leaves signed holds the bytes that came in; other libraries
// agree, but for differences that the target lists.
//
//	make fuzz TIME=10m                                          every target
//	go test -fuzz '^FuzzEthereumParse$' ./fuzz                  one of them
//
// Seeds are the vectors of each package's testdata.
package fuzz
