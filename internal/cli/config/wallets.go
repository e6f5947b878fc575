package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Wallet is a registered wallet of an organization whose keystore cannot keep one. The digest
// pins the file: a changed one is refused.
type Wallet struct {
	Organization string `yaml:"organization"`
	File         string `yaml:"file" path:"file"` // the wallet policy, in JSON
	Digest       string `yaml:"digest"`           // as 'countersign wallets register' prints it
}

func (c *Config) checkWallets() error {
	for i, w := range c.Wallets {
		digest, err := hex.DecodeString(w.Digest)
		if w.Organization == "" || w.File == "" || err != nil || len(digest) != sha256.Size {
			return fmt.Errorf("wallets[%d]: it needs organization, file, and digest, 64 hex digits", i)
		}
	}
	return nil
}
