// Package otp issues one-time passwords and verifies them.
package otp
