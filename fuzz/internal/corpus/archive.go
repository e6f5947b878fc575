package corpus

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// What an archive takes.
const (
	MaxEntry   = 64 << 10  // bytes of an entry, as the go command encodes it
	MaxArchive = 256 << 10 // bytes of an archive
)

// Suffix ends the name of an archive, behind that of its target.
const Suffix = ".zip"

// Entry is one input of a target, encoded as the go command does.
type Entry struct {
	Name string // see [Name]
	Data []byte
}

// Read reads an archive. One that is not there is empty.
func Read(path string) ([]Entry, error) {
	archive, err := zip.OpenReader(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("corpus: %s: %w", path, err)
	}
	defer func() { _ = archive.Close() }()
	var entries []Entry
	for _, file := range archive.File {
		data, err := readFile(file)
		if err != nil {
			return nil, fmt.Errorf("corpus: %s: %s: %w", path, file.Name, err)
		}
		entries = append(entries, Entry{file.Name, data})
	}
	return entries, nil
}

func readFile(file *zip.File) ([]byte, error) {
	reader, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	return io.ReadAll(io.LimitReader(reader, MaxEntry+1))
}

// ReadFolder reads the entries of one target in the go command's fuzz cache, or
// in testdata/fuzz. A folder that is not there is empty.
func ReadFolder(path string) ([]Entry, error) {
	files, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(path, file.Name()))
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name(data), data})
	}
	return entries, nil
}

// Pack adds new entries to those that an archive has: each once, none over
// MaxEntry, none that cannot be read, and no more than make MaxArchive bytes.
// What was there stays; of the new ones the smallest come first.
func Pack(old, found []Entry) []Entry {
	found = slices.Clone(found)
	slices.SortFunc(found, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(len(a.Data), len(b.Data)), cmp.Compare(a.Name, b.Name))
	})
	seen, size := map[string]bool{}, emptyArchive
	var kept []Entry
	for _, entry := range slices.Concat(old, found) {
		_, err := Values(entry.Data)
		cost := costOf(entry)
		if err != nil || seen[entry.Name] || len(entry.Data) > MaxEntry || size+cost > MaxArchive {
			continue
		}
		seen[entry.Name] = true
		size += cost
		kept = append(kept, entry)
	}
	return kept
}

// Bytes of a ZIP archive beside the names and the compressed data.
const (
	emptyArchive = 22
	perEntry     = 30 + 46
)

func costOf(entry Entry) int { return perEntry + 2*len(entry.Name) + len(deflate(entry.Data)) }

// deflate compresses one entry.
func deflate(data []byte) []byte {
	var out bytes.Buffer
	writer, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = writer.Write(data)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		panic("corpus: writing to memory failed: " + err.Error())
	}
	return out.Bytes()
}

// Unique leaves out what comes again under the same name.
func Unique(entries []Entry) []Entry {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(entries), func(entry Entry) bool {
		again := seen[entry.Name]
		seen[entry.Name] = true
		return again
	})
}

// Encode writes an archive: the same entries make the same bytes, in whatever
// order they come and whenever it is done.
func Encode(entries []Entry) ([]byte, error) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, entry := range entries {
		packed := deflate(entry.Data)
		writer, err := archive.CreateRaw(&zip.FileHeader{
			Name: entry.Name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(entry.Data),
			CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(entry.Data)),
		})
		if err != nil {
			return nil, err
		}
		if _, err := writer.Write(packed); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}
