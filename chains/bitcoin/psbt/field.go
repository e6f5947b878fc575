package psbt

// The key types of the global map.
const (
	GlobalUnsignedTx       = 0x00 // BIP-174, version 0 only
	GlobalXpub             = 0x01
	GlobalTxVersion        = 0x02 // BIP-370, version 2 only, as the next four
	GlobalFallbackLocktime = 0x03
	GlobalInputCount       = 0x04
	GlobalOutputCount      = 0x05
	GlobalTxModifiable     = 0x06
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
	InRIPEMD160              = 0x0a
	InSHA256                 = 0x0b
	InHash160                = 0x0c
	InHash256                = 0x0d
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
	InMuSig2Participants     = 0x1a // BIP-373
	InMuSig2PubNonce         = 0x1b
	InMuSig2PartialSig       = 0x1c
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
	OutMuSig2Participants = 0x08 // BIP-373
)

// rule is what is checked of a known field. key and value return what is wrong
// with the key data or the value, or nothing. The zero rule is an unknown
// field, of which nothing is checked.
type rule struct {
	name  string
	key   func(data []byte) string
	value func(value []byte) string
	only  inVersion
}

type inVersion uint8

const (
	inBoth inVersion = iota
	inV0
	inV2
)

var globalRules = [256]rule{
	GlobalUnsignedTx:       {"PSBT_GLOBAL_UNSIGNED_TX", noData, anything, inV0},
	GlobalXpub:             {"PSBT_GLOBAL_XPUB", sized(78), derivation, inBoth},
	GlobalTxVersion:        {"PSBT_GLOBAL_TX_VERSION", noData, sized(4), inV2},
	GlobalFallbackLocktime: {"PSBT_GLOBAL_FALLBACK_LOCKTIME", noData, sized(4), inV2},
	GlobalInputCount:       {"PSBT_GLOBAL_INPUT_COUNT", noData, compactSize, inV2},
	GlobalOutputCount:      {"PSBT_GLOBAL_OUTPUT_COUNT", noData, compactSize, inV2},
	GlobalTxModifiable:     {"PSBT_GLOBAL_TX_MODIFIABLE", noData, sized(1), inV2},
	GlobalVersion:          {"PSBT_GLOBAL_VERSION", noData, sized(4), inBoth},
	Proprietary:            {"PSBT_GLOBAL_PROPRIETARY", proprietary, anything, inBoth},
}

var inputRules = [256]rule{
	InNonWitnessUTXO:         {"PSBT_IN_NON_WITNESS_UTXO", noData, anything, inBoth}, // read by readPrevious
	InWitnessUTXO:            {"PSBT_IN_WITNESS_UTXO", noData, txOut, inBoth},
	InPartialSig:             {"PSBT_IN_PARTIAL_SIG", pubKey, between(9, 73), inBoth},
	InSighashType:            {"PSBT_IN_SIGHASH_TYPE", noData, sized(4), inBoth},
	InRedeemScript:           {"PSBT_IN_REDEEM_SCRIPT", noData, anything, inBoth},
	InWitnessScript:          {"PSBT_IN_WITNESS_SCRIPT", noData, anything, inBoth},
	InBIP32Derivation:        {"PSBT_IN_BIP32_DERIVATION", pubKey, derivation, inBoth},
	InFinalScriptSig:         {"PSBT_IN_FINAL_SCRIPTSIG", noData, anything, inBoth},
	InFinalScriptWitness:     {"PSBT_IN_FINAL_SCRIPTWITNESS", noData, witness, inBoth},
	InPORCommitment:          {"PSBT_IN_POR_COMMITMENT", noData, anything, inBoth},
	InRIPEMD160:              {"PSBT_IN_RIPEMD160", sized(20), anything, inBoth},
	InSHA256:                 {"PSBT_IN_SHA256", sized(32), anything, inBoth},
	InHash160:                {"PSBT_IN_HASH160", sized(20), anything, inBoth},
	InHash256:                {"PSBT_IN_HASH256", sized(32), anything, inBoth},
	InPreviousTxID:           {"PSBT_IN_PREVIOUS_TXID", noData, sized(32), inV2},
	InOutputIndex:            {"PSBT_IN_OUTPUT_INDEX", noData, sized(4), inV2},
	InSequence:               {"PSBT_IN_SEQUENCE", noData, sized(4), inV2},
	InRequiredTimeLocktime:   {"PSBT_IN_REQUIRED_TIME_LOCKTIME", noData, timeLocktime, inV2},
	InRequiredHeightLocktime: {"PSBT_IN_REQUIRED_HEIGHT_LOCKTIME", noData, heightLocktime, inV2},
	InTapKeySig:              {"PSBT_IN_TAP_KEY_SIG", noData, between(64, 65), inBoth},
	InTapScriptSig:           {"PSBT_IN_TAP_SCRIPT_SIG", sized(64), between(64, 65), inBoth},
	InTapLeafScript:          {"PSBT_IN_TAP_LEAF_SCRIPT", controlBlock, leafScript, inBoth},
	InTapBIP32Derivation:     {"PSBT_IN_TAP_BIP32_DERIVATION", sized(32), tapDerivation, inBoth},
	InTapInternalKey:         {"PSBT_IN_TAP_INTERNAL_KEY", noData, sized(32), inBoth},
	InTapMerkleRoot:          {"PSBT_IN_TAP_MERKLE_ROOT", noData, sized(32), inBoth},
	InMuSig2Participants:     {"PSBT_IN_MUSIG2_PARTICIPANT_PUBKEYS", compressedKey, participants, inBoth},
	InMuSig2PubNonce:         {"PSBT_IN_MUSIG2_PUB_NONCE", participant, sized(66), inBoth},
	InMuSig2PartialSig:       {"PSBT_IN_MUSIG2_PARTIAL_SIG", participant, sized(32), inBoth},
	Proprietary:              {"PSBT_IN_PROPRIETARY", proprietary, anything, inBoth},
}

var outputRules = [256]rule{
	OutRedeemScript:       {"PSBT_OUT_REDEEM_SCRIPT", noData, anything, inBoth},
	OutWitnessScript:      {"PSBT_OUT_WITNESS_SCRIPT", noData, anything, inBoth},
	OutBIP32Derivation:    {"PSBT_OUT_BIP32_DERIVATION", pubKey, derivation, inBoth},
	OutAmount:             {"PSBT_OUT_AMOUNT", noData, sized(8), inV2},
	OutScript:             {"PSBT_OUT_SCRIPT", noData, anything, inV2},
	OutTapInternalKey:     {"PSBT_OUT_TAP_INTERNAL_KEY", noData, sized(32), inBoth},
	OutTapTree:            {"PSBT_OUT_TAP_TREE", noData, tapTree, inBoth},
	OutTapBIP32Derivation: {"PSBT_OUT_TAP_BIP32_DERIVATION", sized(32), tapDerivation, inBoth},
	OutMuSig2Participants: {"PSBT_OUT_MUSIG2_PARTICIPANT_PUBKEYS", compressedKey, participants, inBoth},
	Proprietary:           {"PSBT_OUT_PROPRIETARY", proprietary, anything, inBoth},
}
