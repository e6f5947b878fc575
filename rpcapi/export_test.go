package rpcapi

// Encode returns the unsigned encoding of a transaction object.
func Encode(text []byte) ([]byte, error) {
	object, err := readObject(text)
	if err != nil {
		return nil, err
	}
	_, unsigned, err := object.transaction()
	return unsigned, err
}

// Buffered returns how many bytes of bodies are held.
func (h *Handler) Buffered() int { return h.arriving.Used() }
