// Package standardwebhooks holds the signatures of events against the verifier that Standard
// Webhooks publishes for Go. It is a module of its own, so that its dependency is not required of
// those who embed the engine.
package standardwebhooks
