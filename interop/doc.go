// Package interop compares Countersign with public libraries and clients, unmodified as
// npm has them: we sign what they build to the same bytes as they do, and they read what
// we sign.
//
// The tests talk to scripts of this folder, which run in Node. make test-deps installs
// the packages of package-lock.json.
package interop
