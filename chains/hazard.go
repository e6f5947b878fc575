package chains

import "encoding/json"

// HazardFreeText is the hazard of a text that is not known. A reading of the text dispels it.
const HazardFreeText = "message/free-text"

// Hazard is a danger of signing a well-formed transaction. The engine refuses to sign
// unless the hazard's name is allowed. A hazard belongs to the one effect that carries the
// danger, or to the request as a whole, which is the default: every effect happens under
// it, and every policy rule that decides one must allow it.
type Hazard struct {
	Name   string // stable, such as ethereum/no-chain-id
	Detail string // what it means in this transaction, for a person

	effect int // index of the effect, from 1; 0 for the transaction
}

// OnEffect returns the hazard, pointing at the effect with an index.
func (h Hazard) OnEffect(index int) Hazard {
	h.effect = index + 1
	return h
}

// Effect returns the index of the effect that the hazard points at. ok is false if it
// points at the transaction.
func (h Hazard) Effect() (index int, ok bool) { return h.effect - 1, h.effect > 0 }

// MarshalJSON writes the name, the detail and the index of the effect, if there is one.
func (h Hazard) MarshalJSON() ([]byte, error) {
	form := struct {
		Name   string `json:"name"`
		Detail string `json:"detail"`
		Effect *int   `json:"effect,omitempty"`
	}{Name: h.Name, Detail: h.Detail}
	if index, ok := h.Effect(); ok {
		form.Effect = &index
	}
	return json.Marshal(form)
}
