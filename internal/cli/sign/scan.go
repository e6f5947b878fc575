package sign

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

	"github.com/countersign-dev/countersign/internal/cli/console"
)

// NewScanCommand returns the command scan.
func NewScanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "scan FILE|DIR…",
		Short: "Read the QR codes in pictures",
		Long: console.Paragraphs(`
Read the QR code in each picture, PNG or JPEG, and print its content, one code per line,
for --scan of the other commands. A directory stands for the pictures in it, sorted by
name. Damaged pictures, and those without a readable code, are skipped, and counted on
standard error; the exit status is 1 if no code could be read.

Only this command parses pictures, so that the process that signs does not have to. A
program that reads the camera directly works as well:

  zbarcam --raw --nodisplay | countersign sign --config countersign.yaml --scan --qr`),
		Example: "  countersign scan frames/ | countersign sign --config countersign.yaml --scan --out activity.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("name the pictures, or directories of them")
			}
			return nil
		},
		RunE: scanPictures,
	}
}

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
		if err != nil {
			if !errors.Is(err, errNoCode) {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", console.CleanText(fmt.Sprintf("%s: %v", file, err)))
			}
			continue
		}
		read++
		_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
		if errors.Is(err, syscall.EPIPE) {
			return nil // the reader has got all it needs
		}
		if err != nil {
			return err
		}
	}
	if left := len(files) - read; left > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d pictures have no readable code.\n", left, len(files))
	}
	if read == 0 {
		return errors.New("no QR code could be read")
	}
	return nil
}

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

// maxPixels is the size of the largest picture, from a camera with 48 megapixels.
const maxPixels = 48 << 20

var errNoCode = errors.New("no readable QR code")

func readPicture(path string) (text string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	config, _, err := image.DecodeConfig(file)
	if errors.Is(err, image.ErrFormat) {
		return "", errors.New("neither a PNG nor a JPEG picture")
	}
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

// decodePicture reads the code in a picture. The content must be printable ASCII, like
// every code for this command. Several strategies are tried, because none of them finds
// both undistorted drawings and codes in the shade.
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
		result, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{try.hint: true})
		if err != nil {
			continue
		}
		text := result.GetText()
		if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return text, nil
		}
	}
	return "", errNoCode
}
