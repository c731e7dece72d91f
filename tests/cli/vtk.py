"""Reads the files of test_vtk.c by VTK and compares them with what the fields are at points. Then
writes some of them again in all the forms that VTK has, as NAME.vtu.NUMBER, for test_vtk.c to read.

    vtk.py FOLDER

NAME.RANK.samples has a line for each point: number of the element, degree, VTK's parametric
coordinates, coordinates, and the values of density, momentum and pressure.
"""
import glob
import math
import os
import sys
import xml.etree.ElementTree as tree

from vtkmodules.vtkCommonCore import reference, vtkDataArray, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkGenericCell, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkProbeFilter
from vtkmodules.vtkIOCore import vtkZLibDataCompressor
from vtkmodules.vtkIOXML import (vtkXMLPUnstructuredGridReader, vtkXMLUnstructuredGridReader,
                                 vtkXMLUnstructuredGridWriter)

TOLERANCE = 1e-12
FIELDS = ("density", "momentum", "pressure")
folder = sys.argv[1]
worst = {"x": 0.0, "value": 0.0, "probe": 0.0}
failures = 0
points_compared = 0


def fail(text):
    global failures
    failures += 1
    if failures <= 20:
        print("FAILED:", text)


def compare(kind, name, there, expected):
    error = abs(there - expected)
    worst[kind] = max(worst[kind], error)
    if not error <= TOLERANCE:
        fail(f"{name}: {there!r} where {expected!r} was written")


def read(path):
    reader = vtkXMLPUnstructuredGridReader() if path.endswith(".pvtu") else vtkXMLUnstructuredGridReader()
    complaints = []
    reader.AddObserver("ErrorEvent", lambda *_: complaints.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: complaints.append("warning"))
    reader.SetFileName(path)
    reader.Update()
    if complaints:
        fail(f"{path}: VTK complains: {complaints}")
    return reader.GetOutput()


def read_samples(name):
    samples = []
    for path in glob.glob(f"{folder}/{name}.*.samples"):
        with open(path) as lines:
            samples += [[float(word) for word in line.split()] for line in lines]
    return samples


def check_information(name, grid, time):
    units = grid.GetPointData().GetArray("density").GetInformation().Get(vtkDataArray.UNITS_LABEL())
    if units != "kg/m³":
        fail(f"{name}: the unit of density is {units!r}")
    there = grid.GetFieldData().GetArray("TimeValue")
    if not there or there.GetValue(0) != time:
        fail(f"{name}: the time is not {time}")


def check_points(name, grid, samples):
    """At VTK's parametric coordinates of a cell."""
    global points_compared
    elements = grid.GetCellData().GetArray("element")
    degrees = grid.GetCellData().GetArray("degree")
    cell_of = {elements.GetValue(i): i for i in range(grid.GetNumberOfCells())}
    arrays = [grid.GetPointData().GetArray(field) for field in FIELDS]
    if len(cell_of) != grid.GetNumberOfCells() or len(cell_of) * 3 != len(samples):
        fail(f"{name}: {len(cell_of)} elements are not those that were written")
        return
    cell = vtkGenericCell()
    for sample in samples:
        number = cell_of[int(sample[0])]
        if degrees.GetValue(number) != sample[1]:
            fail(f"{name}: element {int(sample[0])} has the degree {degrees.GetValue(number)}")
        grid.GetCell(number, cell)
        weights = [0.0] * cell.GetNumberOfPoints()
        x = [0.0] * 3
        cell.EvaluateLocation(reference(0), sample[2:5], x, weights)
        for d in range(3):
            compare("x", name, x[d], sample[5 + d])
        for array, expected in zip(arrays, sample[8:]):
            value = math.fsum(
                w * array.GetValue(cell.GetPointId(i)) for i, w in enumerate(weights))
            compare("value", name, value, expected)
        points_compared += 1


def is_inside(name, sample):
    """Off the faces: within 1e-3 of one VTK may take either element, and values jump."""
    dim = 2 if name.startswith(("tri", "quad")) else 3
    p = sample[2:2 + dim]
    least = min(p + ([1 - sum(p)] if name.startswith(("tri", "tet")) else [1 - t for t in p]))
    return least > 2e-3


def check_probe(name, grid, samples):
    """At places: VTK finds the element. Its search in curved elements is but an approximation."""
    samples = [sample for sample in samples if is_inside(name, sample)]
    points = vtkPoints()
    points.SetDataTypeToDouble()
    for sample in samples:
        points.InsertNextPoint(sample[5:8])
    where = vtkPolyData()
    where.SetPoints(points)
    probe = vtkProbeFilter()
    probe.SetInputData(where)
    probe.SetSourceData(grid)
    probe.ComputeToleranceOff()
    probe.SetTolerance(1e-9)
    probe.Update()
    found = probe.GetOutput().GetPointData()
    for i, sample in enumerate(samples):
        if not found.GetArray(probe.GetValidPointMaskArrayName()).GetValue(i):
            fail(f"{name}: VTK finds no element at {sample[5:8]}")
        for field, expected in zip(FIELDS, sample[8:]):
            compare("probe", name, found.GetArray(field).GetValue(i), expected)


def check_file(path, time):
    name = os.path.splitext(os.path.basename(path))[0]
    grid, samples = read(path), read_samples(name)
    check_information(name, grid, time)
    check_points(name, grid, samples)
    if name.endswith("-straight"):
        check_probe(name, grid, samples)


def write_again(path):
    number = 0
    for form in ("Ascii", "Binary", "Appended"):
        for compressed in (False, True):
            for bits in (32, 64):
                for base64 in (False, True) if form == "Appended" else (False,):
                    writer = vtkXMLUnstructuredGridWriter()
                    getattr(writer, f"SetDataModeTo{form}")()
                    writer.SetCompressor(vtkZLibDataCompressor() if compressed else None)
                    writer.SetHeaderType(bits)
                    writer.SetEncodeAppendedData(base64)
                    writer.SetBlockSize(1 << 12)
                    writer.SetFileName(f"{path}.{number}")
                    writer.SetInputData(read(path))
                    writer.Write()
                    number += 1


files = [path for path in sorted(glob.glob(f"{folder}/*.vtu")) if "pieces_" not in path]
series = {}
for entry in tree.parse(f"{folder}/series.pvd").getroot().iter("DataSet"):
    series[entry.get("file")] = float(entry.get("timestep"))
if len(series) != 3 or len(files) != 51:
    fail(f"{len(files)} files and {len(series)} entries of the series")
for path in files:
    check_file(path, series.get(os.path.basename(path), 0))
for path in glob.glob(f"{folder}/*.pvtu"):
    check_file(path, 0.5)
for path in files:
    if "mixed" in path or "hexahedron-3" in path:
        write_again(path)
print(f"{len(files)} files, {points_compared} points; largest errors:", worst)
sys.exit(1 if failures else 0)
