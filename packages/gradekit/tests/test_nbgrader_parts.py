"""The parts of nbgrader that gradekit uses and nbgrader's documentation doesn't promise: a new nbgrader fails here, by name.

nbgrader documents its commands, `nbgrader.api` and its settings. Everything else that our packages import, override, inherit
or ask a course directory for is listed here with its form, and the last tests make sure that nothing is missing.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import TraitType

PACKAGES = Path(__file__).parents[2]
#: gradekit and those that depend on it
OURS = [importlib.import_module(path.name) for path in sorted(PACKAGES.glob("gradekit*/src/gradekit*"))]

#: functions and classes that we import
IMPORTED = {
    "apps.NbGrader": "a class",
    "apps.baseapp.NbGrader": "a class",
    "auth.Authenticator": "a class",
    "converters.Autograde": "a class",
    "converters.BaseConverter": "a class",
    "converters.GenerateAssignment": "a class",
    "converters.GenerateFeedback": "a class",
    "converters.base.BaseConverter": "a class",
    "converters.base.NbGraderException": "an exception",
    "coursedir.CourseDirectory": "a class",
    "dbutil.ALEMBIC_DIR": "str",
    "exchange.ExchangeError": "an exception",
    "exchange.default.Exchange": "a class",
    "exchange.default.ExchangeCollect": "a class",
    "exchange.default.ExchangeList": "a class",
    "exchange.default.ExchangeReleaseFeedback": "a class",
    "exchange.exchange_factory.ExchangeFactory": "a class",
    "nbgraderformat.MetadataValidator": "a class",
    "nbgraderformat.SchemaTooNewError": "an exception",
    "nbgraderformat.SchemaTooOldError": "an exception",
    "nbgraderformat.ValidationError": "an exception",
    "plugins.BasePlugin": "a class",
    "plugins.ExportPlugin": "a class",
    "plugins.ExtractorPlugin": "a class",
    "plugins.FileNameCollectorPlugin": "a class",
    "preprocessors.AssignLatePenalties": "a class",
    "preprocessors.CheckCellMetadata": "a class",
    "preprocessors.ClearMarkScheme": "a class",
    "preprocessors.ClearOutput": "a class",
    "preprocessors.ClearSolutions": "a class",
    "preprocessors.Execute": "a class",
    "preprocessors.GetGrades": "a class",
    "preprocessors.IgnorePattern": "a class",
    "preprocessors.NbGraderPreprocessor": "a class",
    "preprocessors.OverwriteCells": "a class",
    "preprocessors.OverwriteKernelspec": "a class",
    "preprocessors.SaveAutoGrades": "a class",
    "preprocessors.SaveCells": "a class",
    "utils.compute_checksum": "(cell)",
    "utils.determine_grade": "(cell, log=None)",
    "utils.find_all_files": "(path, exclude=None)",
    "utils.has_failed": "(cell)",
    "utils.is_grade": "(cell)",
    "utils.is_locked": "(cell)",
    "utils.is_solution": "(cell)",
    "utils.is_task": "(cell)",
    "utils.notebook_hash": "(path=None, unique_key=None, secret=None, notebook_id=None)",
    "utils.parse_utc": "(ts)",
    "utils.setenv": "(**kwargs)",
}
#: methods that we override or extend, with the parameters that nbgrader calls them with
OVERRIDDEN = {
    "apps.baseapp.NbGrader.init_logging": "(self, handler_class, handler_args, color=True, subapps=False)",
    "apps.baseapp.NbGrader.init_syspath": "(self)",
    "converters.autograde.Autograde.convert_single_notebook": "(self, notebook_filename)",
    "converters.autograde.Autograde.init_assignment": "(self, assignment_id, student_id)",
    "converters.base.BaseConverter.__init__": "(self, coursedir=None, **kwargs)",
    "converters.base.BaseConverter.convert_single_notebook": "(self, notebook_filename)",
    "converters.base.BaseConverter.init_assignment": "(self, assignment_id, student_id)",
    "converters.base.BaseConverter.init_destination": "(self, assignment_id, student_id)",
    "converters.base.BaseConverter.init_notebooks": "(self)",
    "converters.base.BaseConverter.set_permissions": "(self, assignment_id, student_id)",
    "converters.base.BaseConverter.write_single_notebook": "(self, output, resources)",
    "exchange.default.collect.ExchangeCollect._path_to_record": "(self, path)",
    "exchange.default.collect.ExchangeCollect.copy_files": "(self)",
    "exchange.default.collect.ExchangeCollect.init_src": "(self)",
    "exchange.default.exchange.Exchange.do_copy": "(self, src, dest, log=None)",
    "exchange.default.exchange.Exchange.start": "(self)",
    "exchange.default.release_feedback.ExchangeReleaseFeedback.copy_files": "(self)",
    "exchange.default.release_feedback.ExchangeReleaseFeedback.init_src": "(self)",
    "nbgraderformat.v3.MetadataValidatorV3.__init__": "(self)",
    "nbgraderformat.v3.MetadataValidatorV3.validate_cell": "(self, cell)",
    "plugins.export.ExportPlugin.export": "(self, gradebook)",
    "plugins.zipcollect.ExtractorPlugin.extract": "(self, archive_path, extracted_path)",
    "plugins.zipcollect.FileNameCollectorPlugin.collect": "(self, submitted_file)",
    "preprocessors.checkcellmetadata.CheckCellMetadata.preprocess": "(self, nb, resources)",
    "preprocessors.getgrades.GetGrades._get_score": "(self, cell, resources)",
    "preprocessors.getgrades.GetGrades.preprocess": "(self, nb, resources)",
    "preprocessors.latesubmissions.AssignLatePenalties._check_late_penalty": "(self, notebook, penalty)",
    "preprocessors.latesubmissions.AssignLatePenalties.preprocess": "(self, nb, resources)",
    "preprocessors.overwritecells.OverwriteCells.preprocess": "(self, nb, resources)",
    "preprocessors.overwritekernelspec.OverwriteKernelspec.preprocess": "(self, nb, resources)",
    "preprocessors.saveautogrades.SaveAutoGrades._add_comment": "(self, cell, resources)",
    "preprocessors.saveautogrades.SaveAutoGrades._add_score": "(self, cell, resources)",
    "preprocessors.saveautogrades.SaveAutoGrades.preprocess": "(self, nb, resources)",
}
#: what our subclasses read or call of nbgrader's classes
INHERITED = {
    "converters.autograde.Autograde._sanitizing": "bool",
    "converters.autograde.Autograde.autograde_preprocessors": "List",
    "converters.autograde.Autograde.create_student": "Bool",
    "converters.autograde.Autograde.exclude_overwriting": "Dict",
    "converters.autograde.Autograde.sanitize_preprocessors": "List",
    "converters.base.BaseConverter._format_dest": "(self, assignment_id, student_id, escape=False)",
    "converters.base.BaseConverter._format_source": "(self, assignment_id, student_id, escape=False)",
    "converters.base.BaseConverter.assignments": "Dict",
    "converters.base.BaseConverter.convert_notebooks": "(self)",
    "converters.base.BaseConverter.coursedir": "Instance",
    "converters.base.BaseConverter.exporter": "Instance",
    "converters.base.BaseConverter.exporter_class": "Type",
    "converters.base.BaseConverter.force": "Bool",
    "converters.base.BaseConverter.init_single_notebook_resources": "(self, notebook_filename)",
    "converters.base.BaseConverter.notebooks": "List",
    "exchange.abc.exchange.Exchange.coursedir": "Instance",
    "exchange.abc.exchange.Exchange.fail": "(self, msg)",
    "exchange.default.release_feedback.ExchangeReleaseFeedback.init_src": "(self)",
    "plugins.export.ExportPlugin.assignment": "List",
    "plugins.export.ExportPlugin.student": "List",
    "plugins.export.ExportPlugin.to": "Unicode",
    "plugins.zipcollect.FileNameCollectorPlugin.named_regexp": "Unicode",
    "plugins.zipcollect.FileNameCollectorPlugin.valid_ext": "List",
    "preprocessors.base.NbGraderPreprocessor.enabled": "Bool",
    "preprocessors.overwritecells.OverwriteCells.add_missing_cells": "Bool",
    "preprocessors.overwritecells.OverwriteCells.add_missing_grade_cells": "(self, nb, resources)",
    "preprocessors.overwritecells.OverwriteCells.add_missing_task_cells": "(self, nb, resources)",
    "preprocessors.saveautogrades.SaveAutoGrades.preprocess_cell": "(self, cell, resources, cell_index)",
}
#: what we read of a CourseDirectory
OF_A_COURSE_DIRECTORY = {
    "assignment_id": "Unicode",
    "autograded_directory": "Unicode",
    "course_id": "Unicode",
    "db_url": "Unicode",
    "directory_structure": "Unicode",
    "feedback_directory": "Unicode",
    "format_path": "(self, nbgrader_step, student_id, assignment_id, escape=False)",
    "get_existing_timestamp": "(self, dest_path)",
    "ignore": "List",
    "max_dir_size": "Int",
    "notebook_id": "Unicode",
    "release_directory": "Unicode",
    "root": "Unicode",
    "source_directory": "Unicode",
    "student_id": "Unicode",
    "student_id_exclude": "Unicode",
    "submitted_directory": "Unicode",
}
#: what we read of nbgrader's converters, steps and collectors that are handed to us; None if their methods set it
OF_OTHERS = {
    "collector.start": "(self)",
    "converter._format_dest": "(self, assignment_id, student_id, escape=False)",
    "converter.assignments": "Dict",
    "converter.coursedir": "Instance",
    "converter.exporter": "Instance",
    "converter.force": "Bool",
    "converter.no_database": "Bool",
    "converter.notebooks": "List",
    "converter.start": "(self)",
    "step.assignment_id": None,
    "step.gradebook": None,
    "step.notebook_id": None,
    "zip_app.collector_plugin_inst": "Instance",
}
#: the class of what has the name in our code
OTHERS = {
    "collector": ExchangeCollect,
    "converter": GenerateAssignment,
    "step": AssignLatePenalties,
    "zip_app": ZipCollectApp,
}


@cache
def sources() -> list[tuple[str, ast.Module]]:
    """Our modules' names and syntax trees, without what `gradekit new` copies into a course."""
    found = []
    for package in OURS:
        (root,) = map(Path, package.__path__)
        for path in sorted(root.rglob("*.py")):
            if "template" not in path.parts:
                parts = path.relative_to(root).with_suffix("").parts
                name = ".".join([package.__name__, *(part for part in parts if part != "__init__")])
                found.append((name, ast.parse(path.read_text(encoding="utf-8"))))
    return found


def our_classes() -> Iterator[tuple[type, ast.ClassDef]]:
    """Our classes that extend one of nbgrader's, with their syntax trees."""
    for name, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.bases:
                try:
                    found = getattr(importlib.import_module(name), node.name, None)
                except ModuleNotFoundError:  # of an extra that is not installed
                    continue
                if isinstance(found, type) and nbgrader_bases(found):
                    yield found, node


def nbgrader_bases(ours: type) -> list[type]:
    return [base for base in ours.__mro__ if base.__module__.partition(".")[0] == "nbgrader"]


def owner_of(ours: type, attribute: str) -> type | None:
    """The class of nbgrader from which ours has the attribute, unless it is ours or that of a library below."""
    for base in ours.__mro__:
        if attribute in vars(base):
            return base if base.__module__.partition(".")[0] == "nbgrader" else None
    return None


def read_of(node: ast.AST, names: tuple[str, ...]) -> set[str]:
    """The attributes that are read of what has one of the names, such as `self`."""
    return {
        part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and _last_name(part.value) in names
    }


def _last_name(value: ast.expr) -> str:
    match value:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=ast.Name(id=name), args=[]):
            return f"{name}()"
    return ""


def form_of(part: object) -> str:
    """Parameters of a function or a class; the type of a setting; the value of a plain one."""
    part = getattr(part, "__func__", part)
    if isinstance(part, TraitType):
        return type(part).__name__
    if isinstance(part, type) and issubclass(part, BaseException):
        return "an exception"
    if isinstance(part, type):
        return "a class"
    if isinstance(part, property):
        return "a property"
    if callable(part):
        parameters = inspect.signature(part).parameters.values()
        return f"({', '.join(str(p.replace(annotation=inspect.Parameter.empty)) for p in parameters)})"
    return type(part).__name__


def imported() -> set[str]:
    found = set()
    for _, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "nbgrader":
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if not name.startswith("nbgrader.api.")}


def overridden() -> set[str]:
    found = set()
    for ours, node in our_classes():
        for method in node.body:
            if isinstance(method, ast.FunctionDef):
                for base in nbgrader_bases(ours):
                    if method.name in vars(base):
                        found.add(f"{base.__module__}.{base.__name__}.{method.name}")
                        break
    return found


def inherited() -> set[str]:
    found = set()
    for ours, node in our_classes():
        for name in read_of(node, ("self", "super()")):
            if name not in vars(ours) and (owner := owner_of(ours, name)):
                found.add(f"{owner.__module__}.{owner.__name__}.{name}")
    return found


def of_a_course_directory() -> set[str]:
    found = set()
    for _, tree in sources():
        found |= read_of(tree, ("coursedir", "folders"))
    return {name for name in found if owner_of(CourseDirectory, name)}


def set_in(kind: type) -> set[str]:
    """The attributes that the methods of a class set."""
    tree = ast.parse(inspect.getsource(kind))
    targets = [target for node in ast.walk(tree) if isinstance(node, ast.Assign) for target in node.targets]
    return set().union(*(read_of(target, ("self",)) for target in targets))


def of_others() -> set[str]:
    found = set()
    for _, tree in sources():
        for name, kind in OTHERS.items():
            for read in read_of(tree, (name,)):
                if owner_of(kind, read) or read in set_in(kind):
                    found.add(f"{name}.{read}")
    return found


def find(path: str) -> object:
    """The part with this name, which is that of a module and those of what is in it."""
    module, _, rest = path, "", []
    while True:
        try:
            part = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
    for name in rest:
        part = inspect.getattr_static(part, name)
    return part


def listed(table: dict[str, str]) -> set[str]:
    return {f"nbgrader.{name}" for name in table}


@pytest.mark.parametrize(("name", "form"), [*IMPORTED.items(), *OVERRIDDEN.items(), *INHERITED.items()])
def test_the_part_is_there_in_the_form_that_we_use(name, form):
    assert form_of(find(f"nbgrader.{name}")) == form


@pytest.mark.parametrize(("name", "form"), OF_A_COURSE_DIRECTORY.items())
def test_a_course_directory_has_it_in_the_form_that_we_use(name, form):
    assert form_of(inspect.getattr_static(CourseDirectory, name)) == form


@pytest.mark.parametrize(("name", "form"), OF_OTHERS.items())
def test_what_is_handed_to_us_has_it_in_the_form_that_we_use(name, form):
    kind, _, read = name.partition(".")
    if form is None:
        assert read in set_in(OTHERS[kind])
    else:
        assert form_of(inspect.getattr_static(OTHERS[kind], read)) == form


def test_everything_that_we_read_of_what_is_handed_to_us_is_listed():
    assert of_others() == set(OF_OTHERS)


def test_every_import_that_is_not_from_nbgraders_api_is_listed():
    assert imported() == listed(IMPORTED)


def test_every_method_that_we_override_is_listed():
    assert overridden() == listed(OVERRIDDEN)


def test_everything_that_our_subclasses_use_is_listed():
    assert inherited() == listed(INHERITED)


def test_everything_that_we_read_of_a_course_directory_is_listed():
    assert of_a_course_directory() == set(OF_A_COURSE_DIRECTORY)
