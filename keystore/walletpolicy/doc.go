// Package walletpolicy reads wallet policies (BIP-388): Bitcoin wallets whose outputs are scripts
// of several keys, some of them of others. A policy is a descriptor template and the keys in it:
//
//	wsh(sortedmulti(2,@0/**,@1/**,@2/**))
//	[73c5da0a/48'/0'/0'/2']xpub6DkF…, [f5acc2fd/48'/0'/0'/2']xpub6…, …
//
// These templates are taken, with at most 16 keys:
//
//	wsh(M)  sh(wsh(M))  sh(M)                    M: multi(k,KEY,…) or sortedmulti(k,KEY,…)
//	tr(KEY,TREE)                                 TREE: L or {TREE,TREE}; L: multi_a or sortedmulti_a
//	KEY: @i/** (the same as @i/<0;1>/*) or @i/<m;n>/*
//
// Everything else is refused by name: miniscript, musig, keys that are not extended public
// keys. A wallet of one key needs no policy: its scripts follow from the key.
//
// From a policy follow the scripts of all its addresses, by deriving every key (BIP-32). That
// makes a script the wallet's, whatever anyone claims about it.
package walletpolicy
