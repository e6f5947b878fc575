package corpus

import (
	"encoding/binary"
	"fmt"
	"reflect"
)

// Raw encodes the arguments of a target as one string of bytes, the form that
// libFuzzer mutates: the arguments in their order,
//
//	integers and bools   as many bytes as they are wide, big-endian
//	[]byte and string    length (uvarint) ‖ bytes; without a length if it is the last argument
//
// so that a target of one []byte gets the bytes as they are.
func Raw(values []any) ([]byte, error) {
	var out []byte
	for i, value := range values {
		switch value := value.(type) {
		case []byte:
			out = appendSized(out, value, i == len(values)-1)
		case string:
			out = appendSized(out, []byte(value), i == len(values)-1)
		default:
			if binary.Size(value) < 0 {
				return nil, fmt.Errorf("corpus: no target takes a %T", value)
			}
			var err error
			if out, err = binary.Append(out, binary.BigEndian, value); err != nil {
				return nil, fmt.Errorf("corpus: %w", err)
			}
		}
	}
	return out, nil
}

func appendSized(out, value []byte, last bool) []byte {
	if !last {
		out = binary.AppendUvarint(out, uint64(len(value)))
	}
	return append(out, value...)
}

// FromRaw reads arguments of the given types. All bytes are arguments of any
// types: what is cut off is filled up with zeros, a length that is too great is
// cut to what is there, and what is left over belongs to the last argument or to
// none.
func FromRaw(types []reflect.Type, data []byte) []reflect.Value {
	var values []reflect.Value
	for i, kind := range types {
		value := reflect.New(kind).Elem()
		switch kind.Kind() {
		case reflect.Slice, reflect.String:
			var content []byte
			content, data = cutSized(data, i == len(types)-1)
			value.Set(reflect.ValueOf(content).Convert(kind))
		case reflect.Bool:
			value.SetBool(cutUint(&data, 1) != 0)
		case reflect.Int64:
			value.SetInt(int64(cutUint(&data, 8)))
		default:
			value.SetUint(cutUint(&data, int(kind.Size())))
		}
		values = append(values, value)
	}
	return values
}

// cutSized takes a []byte or a string off the front.
func cutSized(data []byte, last bool) (content, rest []byte) {
	if last {
		return data, nil
	}
	length, size := binary.Uvarint(data)
	if size <= 0 { // none, or one that is too long: the rest is taken as it is
		return data, nil
	}
	data = data[size:]
	content = data[:min(length, uint64(len(data)))]
	return content, data[len(content):]
}

// cutUint takes an integer of a width in bytes off the front.
func cutUint(data *[]byte, width int) (number uint64) {
	for range width {
		number <<= 8
		if len(*data) > 0 {
			number |= uint64((*data)[0])
			*data = (*data)[1:]
		}
	}
	return number
}
