package chains

// Notation is how a chain writes addresses. A Party keeps the notation instead of the text, so that
// an address is encoded only when its text is needed: decisions compare bytes.
type Notation struct {
	// Text returns the canonical text of an address in binary form.
	Text func(address []byte) string

	// Shown returns what is displayed instead of Text, such as the address of a script
	// on one network. Text is displayed if Shown is nil or returns an empty string.
	Shown func(address []byte) string
}

// Party is an address, the signer, none (the zero value), or unknown. Parties of one
// notation are comparable with ==, but decisions need Equal: unknown equals nothing.
type Party struct {
	kind     partyKind
	address  string // the chain's binary form, if it is an address
	notation *Notation
}

type partyKind uint8

const (
	partyNone partyKind = iota
	partyUnknown
	partySigner
	partyAddress
)

// SignerParty is the party that signs, where the bytes do not name it.
func SignerParty() Party { return Party{kind: partySigner} }

// UnknownParty is a party that the bytes do not contain.
func UnknownParty() Party { return Party{kind: partyUnknown} }

// SubmitterParty is unknown like UnknownParty: the account that will submit what is
// signed, which is not in the bytes.
func SubmitterParty() Party { return Party{kind: partyUnknown, notation: submitter} }

var submitter = &Notation{
	Text:  func([]byte) string { return unknown },
	Shown: func([]byte) string { return "the account that submits it" },
}

// PartyAt is the party at an address, which is copied. The address is in the chain's binary form:
// 20 bytes on Ethereum and Tempo, 21 on Tron, 32 on Solana, the scriptPubKey on Bitcoin.
func PartyAt(address []byte, notation *Notation) Party {
	return Party{kind: partyAddress, address: string(address), notation: notation}
}

// PartyWritten is PartyAt for an address whose text is known. Such parties are not
// comparable with ==.
func PartyWritten(address []byte, text string) Party {
	return PartyAt(address, &Notation{Text: func([]byte) string { return text }})
}

// Shown returns the text to be displayed: String, unless the notation shows another one.
func (p Party) Shown() string {
	if p.notation != nil && p.notation.Shown != nil {
		if shown := p.notation.Shown([]byte(p.address)); shown != "" {
			return shown
		}
	}
	return p.String()
}

// IsNone reports whether there is no party.
func (p Party) IsNone() bool { return p.kind == partyNone }

// IsUnknown reports whether there is a party that the bytes do not name.
func (p Party) IsUnknown() bool { return p.kind == partyUnknown }

// IsSigner reports whether it is the party that signs, without an address.
func (p Party) IsSigner() bool { return p.kind == partySigner }

// Address returns a copy of the address in the chain's binary form, nil if there is none.
func (p Party) Address() []byte {
	if p.address == "" {
		return nil
	}
	return []byte(p.address)
}

// Equal reports whether both are known and the same party. The notation is not compared.
func (p Party) Equal(other Party) bool {
	return p.kind == other.kind && (p.IsSigner() || p.kind == partyAddress && p.address == other.address)
}

// Is reports whether the party is at an address, given in binary form.
func (p Party) Is(address []byte) bool {
	return p.kind == partyAddress && p.address == string(address)
}

// String returns the text of the address in the chain's canonical form (on Bitcoin the
// script in hex), "signer", "unknown", or an empty string.
func (p Party) String() string {
	switch {
	case p.IsUnknown():
		return unknown
	case p.IsSigner():
		return "signer"
	case p.notation != nil:
		return p.notation.Text([]byte(p.address))
	}
	return ""
}
