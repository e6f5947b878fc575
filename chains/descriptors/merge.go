package descriptors

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/evm"
)

// maxIncludes bounds a chain of includes.
const maxIncludes = 4

// loader reads the files of a folder, each once, with what they include merged.
type loader struct {
	folder fs.FS
	read   map[string]object
	failed map[string]error

	auditors map[[32]byte][]evm.Address // who has attested what
}

// load reads a file and its includes. chain has the files that include it.
func (l *loader) load(name string, chain []string) (object, error) {
	if loaded, ok := l.read[name]; ok {
		return loaded, nil
	}
	if err, ok := l.failed[name]; ok {
		return nil, err
	}
	loaded, err := l.loadNew(name, chain)
	if err != nil {
		l.failed[name] = err
		return nil, err
	}
	l.read[name] = loaded
	return loaded, nil
}

func (l *loader) loadNew(name string, chain []string) (object, error) {
	if len(chain) > maxIncludes {
		return nil, fmt.Errorf("includes: a chain of more than %d, or a cycle", maxIncludes)
	}
	file, err := readBounded(l.folder, name)
	if err != nil {
		return nil, err
	}
	own, err := parse(file)
	if err != nil {
		return nil, err
	}
	included, ok := own["includes"]
	if !ok {
		return own, nil
	}
	text, ok := included.(string)
	target := path.Join(path.Dir(name), text)
	if !ok || text == "" || strings.Contains(text, ":") || strings.HasPrefix(text, "/") || !fs.ValidPath(target) {
		return nil, errors.New("includes: must be the relative path of a file in the folder")
	}
	base, err := l.load(target, append(chain, name))
	if err != nil {
		return nil, fmt.Errorf("includes %s: %w", target, err)
	}
	return mergeObjects(base, own), nil
}

func readBounded(folder fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxFileBytes:
		return nil, fmt.Errorf("file of %d bytes, of at most %d", info.Size(), maxFileBytes)
	}
	return fs.ReadFile(folder, name)
}

// mergeObjects merges two objects. Members that are objects in both are merged, lists of
// fields are merged by path, and everything else is taken from over.
func mergeObjects(base, over object) object {
	merged := object{}
	maps.Copy(merged, base)
	for name, node := range over {
		merged[name] = mergeNodes(name, merged[name], node)
	}
	return merged
}

func mergeNodes(name string, base, over any) any {
	below, isObject := base.(object)
	if above, ok := over.(object); ok && isObject {
		return mergeObjects(below, above)
	}
	list, isList := base.([]any)
	if above, ok := over.([]any); ok && isList && name == "fields" {
		return mergeFields(list, above)
	}
	return over
}

// mergeFields merges fields of the same path, and appends the others.
func mergeFields(base, over []any) []any {
	merged := slices.Clone(base)
	for _, field := range over {
		path, ok := pathOf(field)
		index := slices.IndexFunc(base, func(other any) bool {
			otherPath, otherOK := pathOf(other)
			return ok && otherOK && path == otherPath
		})
		if index < 0 {
			merged = append(merged, field)
			continue
		}
		merged[index] = mergeNodes("", base[index], field)
	}
	return merged
}

func pathOf(field any) (string, bool) {
	members, _ := field.(object)
	text, ok := members["path"].(string)
	return text, ok
}
