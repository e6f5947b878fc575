package main

import (
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // a format of frames
	_ "image/png"  // another
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/spf13/cobra"
)

func newScanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "scan FILE|DIR…",
		Short: "Read the QR codes in pictures",
		Long: paragraphs(`
Read the QR code in each picture, PNG or JPEG, and print what it holds, one a line:
what --scan of the other commands takes. A directory stands for the pictures in it,
by name. A picture without a code that can be read is left out, and counted on
standard error; the exit status is 1 if none could be read.

Pictures are parsed by this command alone, so that the process that signs does not
have to. A program that reads the camera itself does as well:

  zbarcam --raw --nodisplay | countersign sign --config countersign.yaml --scan --qr`),
		Example: "  countersign scan frames/ | countersign sign --config countersign.yaml --scan --out activity.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name the pictures, or directories of them")
			}
			return nil
		},
		RunE: scanPictures,
	}
}

// scanPictures prints the codes of all pictures.
func scanPictures(cmd *cobra.Command, args []string) error {
	files, err := pictures(args)
	if err != nil {
		return err
	}
	read := 0
	for _, file := range files {
		if cmd.Context().Err() != nil {
			return errors.New("interrupted")
		}
		text, err := readPicture(file)
		if errors.Is(err, errNoCode) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		read++
		_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
		if errors.Is(err, syscall.EPIPE) {
			return nil // the reader has all that it needs
		}
		if err != nil {
			return err
		}
	}
	if left := len(files) - read; left > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d pictures have no code that could be read.\n", left, len(files))
	}
	if read == 0 {
		return errors.New("no QR code could be read")
	}
	return nil
}

// pictures lists the files that are named, and those in directories.
func pictures(args []string) (files []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			switch strings.ToLower(filepath.Ext(entry.Name())) {
			case ".png", ".jpg", ".jpeg":
				files = append(files, filepath.Join(arg, entry.Name()))
			}
		}
	}
	return files, nil
}

// maxPixels bounds a picture: that of a camera of 48 megapixels.
const maxPixels = 48 << 20

// errNoCode says that a picture has no code that can be read.
var errNoCode = errors.New("no QR code that can be read")

// readPicture reads the code in a picture.
func readPicture(path string) (text string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	config, _, err := image.DecodeConfig(file)
	if err != nil {
		return "", err
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return "", fmt.Errorf("a picture of %d×%d pixels is too large", config.Width, config.Height)
	}
	if _, err := file.Seek(0, 0); err != nil {
		return "", err
	}
	picture, _, err := image.Decode(file)
	if err != nil {
		return "", err
	}
	return decodePicture(picture)
}

// decodePicture reads the code in a picture, as printable ASCII: that is all a code
// for this command can hold. One way of finding the code fails where another
// succeeds: a drawn code that is not turned, or one in shade.
func decodePicture(picture image.Image) (string, error) {
	source := gozxing.NewLuminanceSourceFromImage(picture)
	for _, try := range []struct {
		binarizer gozxing.Binarizer
		hint      gozxing.DecodeHintType
	}{
		{gozxing.NewHybridBinarizer(source), gozxing.DecodeHintType_TRY_HARDER},
		{gozxing.NewHybridBinarizer(source), gozxing.DecodeHintType_PURE_BARCODE},
		{gozxing.NewGlobalHistgramBinarizer(source), gozxing.DecodeHintType_TRY_HARDER},
	} {
		bitmap, err := gozxing.NewBinaryBitmap(try.binarizer)
		if err != nil {
			return "", err
		}
		found, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{try.hint: true})
		if err == nil && printable(found.GetText()) {
			return found.GetText(), nil
		}
	}
	return "", errNoCode
}

func printable(text string) bool {
	for _, r := range text {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return text != ""
}
