package bitcoin

// Sighash types: what a signature commits to. AnyoneCanPay is added to one of the others.
const (
	sighashDefault      = 0x00 // taproot only: all, written without a byte of its own
	sighashAll          = 0x01
	sighashNone         = 0x02 // no outputs
	sighashSingle       = 0x03 // the output of the input's own number
	sighashAnyoneCanPay = 0x80 // no other inputs
	sighashOutputs      = 0x03 // mask
)

// Bits of PSBT_GLOBAL_TX_MODIFIABLE (BIP-370).
const (
	inputsModifiable  = 1 << 0
	outputsModifiable = 1 << 1
	hasSighashSingle  = 1 << 2
)

func knownSighash(sighash byte, of family) bool {
	if sighash == sighashDefault {
		return of == taprootV1 || of == unknown
	}
	outputs := sighash &^ sighashAnyoneCanPay
	return outputs >= sighashAll && outputs <= sighashSingle
}

func sighashName(sighash byte) string {
	names := [...]string{"DEFAULT", "ALL", "NONE", "SINGLE"}
	name := "SIGHASH_" + names[sighash&sighashOutputs]
	if sighash&sighashAnyoneCanPay != 0 {
		name += "|ANYONECANPAY"
	}
	return name
}
