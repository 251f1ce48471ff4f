package command

import (
	"slices"
	"strings"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/dataset/iot"
	"benchbook/benchload/dataset/kline"
	"benchbook/benchload/dataset/series"
	"benchbook/benchload/request"
)

// kind is a dataset that is made of ticks, series and tables.
type kind struct {
	name   string
	tables []string
	make   func(dataset.Extent) dataset.Generator
}

// kinds are the datasets; a new one adds an entry.
var kinds = []kind{
	{"devops", devops.TableNames(), func(e dataset.Extent) dataset.Generator { return devops.New(e) }},
	{"iot", iot.TableNames(), func(e dataset.Extent) dataset.Generator { return iot.New(e) }},
	{"kline", []string{kline.TableName}, func(e dataset.Extent) dataset.Generator { return kline.New(e) }},
	{"inch", []string{series.InchTable}, func(e dataset.Extent) dataset.Generator { return series.NewInch(e, e.Tags, int(e.Fields)) }},
	{"stress", []string{series.StressTable}, func(e dataset.Extent) dataset.Generator { return series.NewStress(e) }},
}

// kindOf is the dataset of this name, which exists.
func kindOf(name string) kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
}

// takeDataset takes the name of the dataset off the arguments. Others are names
// that the command knows beside those of the kinds.
func takeDataset(command string, arguments []string, others ...string) (name string, rest []string, err error) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	names = append(names, others...)
	if len(arguments) > 0 && request.IsHelp(arguments[0]) {
		return names[0], arguments, nil // all datasets have nearly the same flags
	}
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") {
		return "", nil, request.Mistakef("%s needs the name of a dataset first, one of %s; for example: benchload %s devops --seed 1 …",
			command, strings.Join(names, ", "), command)
	}
	if !slices.Contains(names, arguments[0]) {
		return "", nil, request.Unknown("The dataset", arguments[0], names)
	}
	return arguments[0], arguments[1:], nil
}

// newGenerator makes the generator of a dataset.
func newGenerator(name string, extent dataset.Extent) dataset.Generator {
	return kindOf(name).make(extent)
}
