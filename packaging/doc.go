// Package packaging holds what is shipped with the binary. It contains only tests, which
// check those files against the command.
package packaging
