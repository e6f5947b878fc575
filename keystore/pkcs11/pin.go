package pkcs11

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/secret"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/keystore"
)

// maxPIN is the maximum length of a PIN in bytes.
const maxPIN = 255

// readPIN returns the PIN from the options, or from the file that the options or the URI
// name, together with its source.
func readPIN(uri URI, options Options) (pin keystore.Secret, source string, err error) {
	if len(options.PIN) > 0 {
		if err := checkPIN(options.PIN); err != nil {
			return pin, "", fmt.Errorf("pkcs11: PIN: %w", err)
		}
		return keystore.NewSecret(options.PIN), cmp.Or(options.PINFile, "the caller"), nil
	}
	path := cmp.Or(options.PINFile, uri.PINSource)
	if path == "" {
		return pin, "", errors.New("pkcs11: no PIN: name its file with pin-source=file:/PATH in the URI")
	}
	bytes, err := readPINFile(path)
	if err != nil {
		return pin, "", fmt.Errorf("pkcs11: PIN file %s: %w", path, err)
	}
	defer keystore.Wipe(bytes)
	return keystore.NewSecret(bytes), path, nil
}

// readPINFile reads a file whose only line is a PIN.
func readPINFile(path string) ([]byte, error) {
	file, err := trust.Open(path)
	if err != nil {
		if pathError, ok := errors.AsType[*os.PathError](err); ok {
			err = pathError.Err
		}
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := trust.Secret(info, path); err != nil {
		return nil, err
	}
	content := make([]byte, maxPIN+len("\r\n")+1)
	size, err := io.ReadFull(file, content)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	pin, err := secret.Text(content[:size])
	if err == nil {
		err = checkPIN(pin)
	}
	if err != nil {
		keystore.Wipe(content)
		return nil, err
	}
	return pin, nil
}

func checkPIN(pin []byte) error {
	if err := plaintext.CheckEncoding("it", pin); err != nil {
		return err
	}
	switch {
	case len(pin) == 0:
		return errors.New("it is empty")
	case len(pin) > maxPIN:
		return fmt.Errorf("it is longer than %d bytes", maxPIN)
	case bytes.ContainsAny(pin, "\r\n\x00"):
		return errors.New("it has more than one line, or a zero byte")
	}
	return nil
}
