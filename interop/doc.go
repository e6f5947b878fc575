// Package interop tests Countersign against unmodified public libraries and clients from
// npm: we sign what they build to the same bytes as they do, and they read what we sign.
//
// The libraries run in Node, in the scripts of this folder, to which the tests talk. make
// test-deps installs the packages of package-lock.json.
package interop
