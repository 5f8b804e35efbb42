package mask_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	"github.com/tidwall/gjson"

	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

const sevenFields = "EnvList(EnvId,Alias,Status,EnvType,Region,PackageName,IsDefault)"

// environments is a list of n rows of about 1.2 KB, 7 fields of which are wanted.
func environments(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"EnvList":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"EnvId":"env-%05d","Source":"miniapp","Alias":"alias %d","CreateTime":"2024-01-0%d 10:11:12",`+
			`"UpdateTime":"2024-02-01 10:11:12","Status":"NORMAL",`, i, i, i%9+1)
		fmt.Fprintf(&b, `"Databases":[{"InstanceId":"tnt-%d","Status":"RUNNING","Region":"ap-shanghai","UpdateTime":"%s"}],`, i,
			strings.Repeat("7", 60))
		fmt.Fprintf(&b, `"Storages":[{"Region":"ap-shanghai","Bucket":"%s-125","CdnDomain":"%d.tcb.example.com","AppId":"125%d"}],`,
			strings.Repeat("6d63", 20), i, i)
		fmt.Fprintf(&b, `"Functions":[{"Namespace":"env-%d","Region":"ap-shanghai"}],"LogServices":[{"LogsetName":"%s","TopicId":"%s",`+
			`"Period":30}],`, i, strings.Repeat("log-", 16), strings.Repeat("ab12", 9))
		fmt.Fprintf(&b, `"StaticStorages":[{"StaticDomain":"env-%d.example.com","Status":"online","Bucket":"%s"}],"Tags":[],`+
			`"EnvPreferences":null,`, i, strings.Repeat("bucket", 20))
		fmt.Fprintf(&b, `"PackageId":"baas_personal","PackageName":"个人版","EnvType":"baas","Region":"ap-shanghai","IsDefault":%v,`+
			`"PayMode":"prepayment","CustomLogServices":[{"CLSRegion":"ap-shanghai","CLSLogsetId":"%s"}]}`, i == 0, strings.Repeat("f", 36))
	}
	b.WriteString(`],"TotalCount":40}`)
	return b.Bytes()
}

func BenchmarkSevenFieldsOf50KB(b *testing.B) {
	data := environments(40)
	m, err := mask.Parse(sevenFields)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("mask", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		var tally mask.Tally
		var out []byte
		for b.Loop() {
			tally.Reset()
			out, err = m.Apply(out[:0], data, &tally)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mask, quoted", func(b *testing.B) {
		literal := quoted.Append(nil, data)
		b.SetBytes(int64(len(literal)))
		b.ReportAllocs()
		var tally mask.Tally
		var out []byte
		for b.Loop() {
			tally.Reset()
			out, _, err = m.ApplyQuoted(out[:0], literal, &tally)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gojq", func(b *testing.B) {
		query, err := gojq.Parse("{EnvList: [.EnvList[] | {EnvId, Alias, Status, EnvType, Region, PackageName, IsDefault}]}")
		if err != nil {
			b.Fatal(err)
		}
		code, err := gojq.Compile(query)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
			out, _ := code.Run(v).Next()
			if _, err := gojq.Marshal(out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gjson", func(b *testing.B) {
		const path = "{EnvList:EnvList.#.{EnvId,Alias,Status,EnvType,Region,PackageName,IsDefault}}"
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if !gjson.ValidBytes(data) || !gjson.GetBytes(data, path).Exists() {
				b.Fatal("nothing found")
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		type row struct {
			EnvID       string `json:"EnvId"`
			Alias       string
			Status      string
			EnvType     string
			Region      string
			PackageName string
			IsDefault   bool
		}
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var v struct{ EnvList []row }
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTwoFieldsOfSmallRows is mostly structure: 660 rows in 50 KB.
func BenchmarkTwoFieldsOfSmallRows(b *testing.B) {
	var rows []string
	for i := range 660 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"label":"row %d","state":"ready","size":%d,"tags":["a","b"]}`, i, i, i*37))
	}
	literal := quoted.Append(nil, []byte(`{"rows":[`+strings.Join(rows, ",")+`]}`))
	m, err := mask.Parse("rows(id,label)")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(literal)))
	var tally mask.Tally
	var out []byte
	for b.Loop() {
		tally.Reset()
		if out, _, err = m.ApplyQuoted(out[:0], literal, &tally); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mask.Parse(sevenFields); err != nil {
			b.Fatal(err)
		}
	}
}

func TestApplyAllocatesNothingBeyondTheOutput(t *testing.T) {
	data := environments(40)
	m, err := mask.Parse(sevenFields + ",!**/x")
	if err != nil {
		t.Fatal(err)
	}
	var tally mask.Tally
	out := make([]byte, 0, len(data))
	n := testing.AllocsPerRun(20, func() {
		tally.Reset()
		if _, err := m.Apply(out, data, &tally); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
