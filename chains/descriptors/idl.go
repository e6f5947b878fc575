package descriptors

func newIDL(object) (source, []target, error) { return nil, nil, errNoTarget }
