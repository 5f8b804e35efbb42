package app

import (
	"reflect"
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/state/config"
)

// TestNoKeyIsForgottenByAReload changes each field of a configuration alone: a reload says
// that it is in force, or that it needs a restart.
func TestNoKeyIsForgottenByAReload(t *testing.T) {
	for i := range reflect.TypeFor[config.Config]().NumField() {
		field := reflect.TypeFor[config.Config]().Field(i)
		if comparedApart[field.Name] {
			continue
		}
		t.Run(field.Name, func(t *testing.T) {
			old := &config.Config{}
			next := &config.Config{}
			change(reflect.ValueOf(next).Elem().Field(i))
			said := keepFixed(next, old)
			said = append(said, changedSettings(old, next)...)
			if len(said) == 0 {
				t.Error("the change is ignored in silence")
			}
			if len(slices.Compact(said)) != len(said) {
				t.Errorf("it is said twice: %v", said)
			}
		})
	}
}

// change gives a value that is not the zero one.
func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		change(v.Field(0))
	default:
		panic("a kind that no key has yet: " + v.Kind().String())
	}
}
