// Package docs holds the code and the commands of the documents beside it: what
// a document shows is compiled, and run, by the tests of this package.
package docs
