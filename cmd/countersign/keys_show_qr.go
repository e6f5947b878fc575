package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/ur"
)

// hdKey is the one account that is printed, as a code has it.
func (l *watchLine) hdKey() (ur.HDKey, error) {
	if len(l.Accounts) != 1 {
		return ur.HDKey{}, usagef("--qr shows one account, and this wallet has %d: name one with --account", len(l.Accounts))
	}
	account := l.Accounts[0]
	path, err := wallet.ParsePath(account.Path)
	if err != nil {
		return ur.HDKey{}, err
	}
	key, err := hdkeychain.NewKeyFromString(account.XPub)
	if err != nil {
		return ur.HDKey{}, fmt.Errorf("extended public key of %s: %w", account.Path, err)
	}
	public, err := key.ECPubKey()
	if err != nil {
		return ur.HDKey{}, fmt.Errorf("extended public key of %s: %w", account.Path, err)
	}
	fingerprint, err := hex.DecodeString(l.Fingerprint)
	if err != nil {
		return ur.HDKey{}, err
	}
	origin := ur.Keypath{Fingerprint: binary.BigEndian.Uint32(fingerprint), Depth: uint64(len(path))}
	for _, step := range path {
		origin.Path = append(origin.Path, ur.PathIndex{Index: step &^ wallet.Hardened, Hardened: step >= wallet.Hardened})
	}
	return ur.HDKey{
		Key: public.SerializeCompressed(), ChainCode: key.ChainCode(), Origin: origin,
		Parent: key.ParentFingerprint(), Testnet: path[1] == wallet.Hardened+1, Name: l.Name,
	}, nil
}
