package psbt

// The key types of the global map that have a meaning here.
const (
	GlobalUnsignedTx       = 0x00 // BIP-174, version 0 only
	GlobalTxVersion        = 0x02 // BIP-370, version 2 only, as the next four
	GlobalFallbackLocktime = 0x03
	GlobalInputCount       = 0x04
	GlobalOutputCount      = 0x05
	GlobalTxModifiable     = 0x06
	globalSPECDHShare      = 0x07 // BIP-375, as the next
	globalSPDLEQ           = 0x08
	GlobalSignedMessage    = 0x09 // BIP-322
	GlobalVersion          = 0xfb
	Proprietary            = 0xfc // in every map
)

// The key types of an input map.
const (
	InNonWitnessUTXO         = 0x00 // BIP-174
	InWitnessUTXO            = 0x01
	InPartialSig             = 0x02
	InSighashType            = 0x03
	InRedeemScript           = 0x04
	InWitnessScript          = 0x05
	InBIP32Derivation        = 0x06
	InFinalScriptSig         = 0x07
	InFinalScriptWitness     = 0x08
	InPORCommitment          = 0x09
	InSHA256                 = 0x0b
	InHash160                = 0x0c
	InPreviousTxID           = 0x0e // BIP-370, version 2 only, as the next four
	InOutputIndex            = 0x0f
	InSequence               = 0x10
	InRequiredTimeLocktime   = 0x11
	InRequiredHeightLocktime = 0x12
	InTapKeySig              = 0x13 // BIP-371
	InTapScriptSig           = 0x14
	InTapLeafScript          = 0x15
	InTapBIP32Derivation     = 0x16
	InTapInternalKey         = 0x17
	InTapMerkleRoot          = 0x18
	inSPECDHShare            = 0x1d // BIP-375, as the next
	inSPDLEQ                 = 0x1e
	inSPSpendDerivation      = 0x1f // BIP-376, as the next
	inSPTweak                = 0x20
)

// The key types of an output map.
const (
	OutRedeemScript       = 0x00 // BIP-174
	OutWitnessScript      = 0x01
	OutBIP32Derivation    = 0x02
	OutAmount             = 0x03 // BIP-370, version 2 only, as the next
	OutScript             = 0x04
	OutTapInternalKey     = 0x05 // BIP-371
	OutTapTree            = 0x06
	OutTapBIP32Derivation = 0x07
	outSPInfo             = 0x09 // BIP-375, as the next
	outSPLabel            = 0x0a
)

// rule checks a known field. key and value return what is wrong with the key data or
// the value. The zero rule is of an unknown field, which is not checked.
type rule struct {
	name  string
	key   func(data []byte) error
	value func(value []byte) error
	only  inVersion
	sp    bool // a field of silent payments
}

type inVersion uint8

const (
	inBoth inVersion = iota
	inV0
	inV2
)

var globalRules = [256]rule{
	GlobalUnsignedTx:       {"PSBT_GLOBAL_UNSIGNED_TX", noData, anything, inV0, false},
	0x01:                   {"PSBT_GLOBAL_XPUB", sized(78), derivation, inBoth, false},
	GlobalTxVersion:        {"PSBT_GLOBAL_TX_VERSION", noData, sized(4), inV2, false},
	GlobalFallbackLocktime: {"PSBT_GLOBAL_FALLBACK_LOCKTIME", noData, sized(4), inV2, false},
	GlobalInputCount:       {"PSBT_GLOBAL_INPUT_COUNT", noData, compactSize, inV2, false},
	GlobalOutputCount:      {"PSBT_GLOBAL_OUTPUT_COUNT", noData, compactSize, inV2, false},
	GlobalTxModifiable:     {"PSBT_GLOBAL_TX_MODIFIABLE", noData, sized(1), inV2, false},
	globalSPECDHShare:      {"PSBT_GLOBAL_SP_ECDH_SHARE", anything, anything, inBoth, true},
	globalSPDLEQ:           {"PSBT_GLOBAL_SP_DLEQ", anything, anything, inBoth, true},
	GlobalSignedMessage:    {"PSBT_GLOBAL_GENERIC_SIGNED_MESSAGE", noData, anything, inBoth, false},
	GlobalVersion:          {"PSBT_GLOBAL_VERSION", noData, sized(4), inBoth, false},
	Proprietary:            {"PSBT_GLOBAL_PROPRIETARY", proprietary, anything, inBoth, false},
}

var inputRules = [256]rule{
	InNonWitnessUTXO:         {"PSBT_IN_NON_WITNESS_UTXO", noData, anything, inBoth, false}, // read by ReadTransaction
	InWitnessUTXO:            {"PSBT_IN_WITNESS_UTXO", noData, txOut, inBoth, false},
	InPartialSig:             {"PSBT_IN_PARTIAL_SIG", pubKey, between(9, 73), inBoth, false},
	InSighashType:            {"PSBT_IN_SIGHASH_TYPE", noData, sized(4), inBoth, false},
	InRedeemScript:           {"PSBT_IN_REDEEM_SCRIPT", noData, anything, inBoth, false},
	InWitnessScript:          {"PSBT_IN_WITNESS_SCRIPT", noData, anything, inBoth, false},
	InBIP32Derivation:        {"PSBT_IN_BIP32_DERIVATION", pubKey, derivation, inBoth, false},
	InFinalScriptSig:         {"PSBT_IN_FINAL_SCRIPTSIG", noData, anything, inBoth, false},
	InFinalScriptWitness:     {"PSBT_IN_FINAL_SCRIPTWITNESS", noData, witness, inBoth, false},
	InPORCommitment:          {"PSBT_IN_POR_COMMITMENT", noData, anything, inBoth, false},
	0x0a:                     {"PSBT_IN_RIPEMD160", sized(20), anything, inBoth, false},
	InSHA256:                 {"PSBT_IN_SHA256", sized(32), anything, inBoth, false},
	InHash160:                {"PSBT_IN_HASH160", sized(20), anything, inBoth, false},
	0x0d:                     {"PSBT_IN_HASH256", sized(32), anything, inBoth, false},
	InPreviousTxID:           {"PSBT_IN_PREVIOUS_TXID", noData, sized(32), inV2, false},
	InOutputIndex:            {"PSBT_IN_OUTPUT_INDEX", noData, sized(4), inV2, false},
	InSequence:               {"PSBT_IN_SEQUENCE", noData, sized(4), inV2, false},
	InRequiredTimeLocktime:   {"PSBT_IN_REQUIRED_TIME_LOCKTIME", noData, timeLocktime, inV2, false},
	InRequiredHeightLocktime: {"PSBT_IN_REQUIRED_HEIGHT_LOCKTIME", noData, heightLocktime, inV2, false},
	InTapKeySig:              {"PSBT_IN_TAP_KEY_SIG", noData, between(64, 65), inBoth, false},
	InTapScriptSig:           {"PSBT_IN_TAP_SCRIPT_SIG", sized(64), between(64, 65), inBoth, false},
	InTapLeafScript:          {"PSBT_IN_TAP_LEAF_SCRIPT", controlBlock, leafScript, inBoth, false},
	InTapBIP32Derivation:     {"PSBT_IN_TAP_BIP32_DERIVATION", sized(32), tapDerivation, inBoth, false},
	InTapInternalKey:         {"PSBT_IN_TAP_INTERNAL_KEY", noData, sized(32), inBoth, false},
	InTapMerkleRoot:          {"PSBT_IN_TAP_MERKLE_ROOT", noData, sized(32), inBoth, false},
	// BIP-373, as the next two
	0x1a:                {"PSBT_IN_MUSIG2_PARTICIPANT_PUBKEYS", compressedKey, participants, inBoth, false},
	0x1b:                {"PSBT_IN_MUSIG2_PUB_NONCE", participant, sized(66), inBoth, false},
	0x1c:                {"PSBT_IN_MUSIG2_PARTIAL_SIG", participant, sized(32), inBoth, false},
	inSPECDHShare:       {"PSBT_IN_SP_ECDH_SHARE", anything, anything, inBoth, true},
	inSPDLEQ:            {"PSBT_IN_SP_DLEQ", anything, anything, inBoth, true},
	inSPSpendDerivation: {"PSBT_IN_SP_SPEND_BIP32_DERIVATION", anything, anything, inBoth, true},
	inSPTweak:           {"PSBT_IN_SP_TWEAK", anything, anything, inBoth, true},
	Proprietary:         {"PSBT_IN_PROPRIETARY", proprietary, anything, inBoth, false},
}

var outputRules = [256]rule{
	OutRedeemScript:       {"PSBT_OUT_REDEEM_SCRIPT", noData, anything, inBoth, false},
	OutWitnessScript:      {"PSBT_OUT_WITNESS_SCRIPT", noData, anything, inBoth, false},
	OutBIP32Derivation:    {"PSBT_OUT_BIP32_DERIVATION", pubKey, derivation, inBoth, false},
	OutAmount:             {"PSBT_OUT_AMOUNT", noData, sized(8), inV2, false},
	OutScript:             {"PSBT_OUT_SCRIPT", noData, anything, inV2, false},
	OutTapInternalKey:     {"PSBT_OUT_TAP_INTERNAL_KEY", noData, sized(32), inBoth, false},
	OutTapTree:            {"PSBT_OUT_TAP_TREE", noData, tapTree, inBoth, false},
	OutTapBIP32Derivation: {"PSBT_OUT_TAP_BIP32_DERIVATION", sized(32), tapDerivation, inBoth, false},
	// BIP-373
	0x08:        {"PSBT_OUT_MUSIG2_PARTICIPANT_PUBKEYS", compressedKey, participants, inBoth, false},
	outSPInfo:   {"PSBT_OUT_SP_V0_INFO", anything, anything, inBoth, true},
	outSPLabel:  {"PSBT_OUT_SP_V0_LABEL", anything, anything, inBoth, true},
	0x35:        {"PSBT_OUT_DNSSEC_PROOF", noData, anything, inBoth, false}, // BIP-353
	Proprietary: {"PSBT_OUT_PROPRIETARY", proprietary, anything, inBoth, false},
}

// InputField returns the name of a known field of an input map.
func InputField(keyType uint64) string { return inputRules[keyType].name }
