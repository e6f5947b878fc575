// Package packaging has no code: what is shipped beside the binary is here, and
// tests hold it against the command.
package packaging
