# VTK's own reader opens our files; skipped where its Python module is not installed.
source "$(dirname "$0")/common.sh"

if ! python3 -c 'import vtk' 2>/dev/null; then
  echo "skipped: the Python module vtk is not installed"
  exit 77
fi

expect_exit 0 "$flotsam" run tiny.json --frames 1 --no-picture --out run
cat >read.py <<'END'
import vtk
reader = vtk.vtkXMLPolyDataReader()
reader.SetFileName("run/particles_0001.vtp")
reader.Update()
data = reader.GetOutput()
points = data.GetPointData()
assert data.GetNumberOfPoints() == data.GetNumberOfVerts() > 64
for name in "id", "type", "material", "body", "velocity", "density", "pressure":
    assert points.GetArray(name) is not None, name
fluid = [k for k in range(data.GetNumberOfPoints()) if points.GetArray("type").GetValue(k) == 0]
assert sorted(points.GetArray("id").GetValue(k) for k in fluid) == list(range(64))
assert all(300 < points.GetArray("density").GetValue(k) < 1100 for k in fluid)
assert data.GetFieldData().GetArray("TimeValue").GetValue(0) == 0.02
END
expect_exit 0 python3 read.py
finish
